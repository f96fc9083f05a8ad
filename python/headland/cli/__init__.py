"""The ``headland`` command: one file for what verbs share, one for each kind of verb.

Exit codes:

====  =====================================================================
0     done
1     something else went wrong
2     wrong arguments, or the client is set up wrongly
3     the service refused the keys, or they do not permit the data
4     there is no such record
5     the service found something wrong in the request, or a conflict
6     the rate limit leaves no room before the deadline
7     the service or the connection is in trouble
8     the job has no coverage, or cannot be converted
9     the conversion needs more time
10    the reply to an upload or another POST was lost: look what became of it before trying again
11    a reply or an archive cannot be read
12    a file on this machine cannot be read or written
130   interrupted
====  =====================================================================
"""

from headland.cli.main import main

__all__ = ["main"]
