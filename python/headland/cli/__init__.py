"""The ``headland`` command: shared files, and one file for each kind of verb.

Exit codes:

====  =====================================================================
0     done
1     another error
2     wrong arguments, or a wrong configuration of the client
3     the service refused the keys, or they do not permit the data
4     there is no such record
5     the request is invalid, or conflicts with another record
6     the rate limit leaves no time before the deadline
7     the service or the connection failed
8     the job has no coverage, or cannot be converted
9     the conversion or the delivery needs more time
10    the reply to an upload or another POST was lost: check its effect before you retry
11    a reply or an archive cannot be read
12    a file on this machine cannot be read or written
130   interrupted
====  =====================================================================
"""

from headland.cli.main import main

__all__ = ["main"]
