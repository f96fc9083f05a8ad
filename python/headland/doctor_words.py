"""What the doctor says to do next, in plain words. What stands in braces is filled in by the case."""

from __future__ import annotations

SET_CLOCK = (
    "set this machine's clock right and keep it so by network time (`timedatectl set-ntp true` on Linux): requests "
    "that are 120 s off are refused"
)
DATES_DIFFER = "tell the operator: the service's Date and its check of the time do not agree"
SPELLING = "check the spelling of {named}, and whether this machine is online"
PROXY_REFUSES = (
    "calls go through the proxy `{proxy}` because HTTPS_PROXY is set, and it does not let them through: correct "
    "HTTPS_PROXY, or set NO_PROXY={name} if they need no proxy"
)
NOTHING_LISTENS = "nothing listens on port {port} of {name}: check the port in base_url, or start the service"
BLOCKED = (
    "something on the way blocks port {port} of {name}: ask whoever keeps the network or the firewall to allow it, or "
    "set HTTPS_PROXY if this network needs a proxy"
)
NO_ANSWER = (
    "what listens on port {port} does not answer like the service: check the port in base_url; if it is right, the "
    "service is stuck or slow, so try again later or raise `timeout`"
)
STRANGER = (
    "something in between answers in place of the service, such as a proxy or the sign-in page of a network: open "
    "{base_url} in a browser, sign in where a page asks for it, and check base_url"
)
STRANGER_PROXY = "; HTTPS_PROXY sends calls through `{proxy}`: set NO_PROXY={name} to go without"
TROUBLE = "the service is in trouble: try again in some minutes, else tell its operator"
REFUSES_ALL = "tell the operator: the service answers, but refuses its simplest call"
PATH = "set base_url to the address that the operator gave, without `/accesskey` or any other call at its end"
AT_ROOT = "set base_url to {root}: the service is there, not below `{path}`"
API_KEY = (
    "copy api_key again as it was issued, and check that base_url is the service that issued it: a test and a "
    "production service have keys of their own"
)
SIGNED_WRONGLY = (
    "copy shared_secret again: it must be the one issued together with this api_key. If it is, something in between "
    "may change the host or the path that the service sees: base_url must name the host as its operator does, not "
    "`{host}` if that is another name for it"
)
UNNAMED = "the service does not say which check failed: copy api_key again, too; "
LOWER_CASE = "set base_url to {low}: in lower case both are the same"
SIGN_LOWER_CASE = "ask the operator to check the signature over the path in lower case"
SIGN_PORT = (
    "ask the operator for an address without a port, or to check the signature over `Host` as it is sent: `{host}`"
)
ASK_CUSTOMER = "ask the customer to issue a new access key in the portal"
ACCESS_KEY = "copy access_key again as the portal shows it. If it is right, " + ASK_CUSTOMER
DELEGATE = "the access key does not give job data: " + ASK_CUSTOMER + ", with job data delegated to you"
SHARE = (
    "let programs on one machine share `limiter_state`, and give each machine that uses this API key its share by "
    "`rate_limits`"
)
WRITABLE = "make that file and its folder writable, or set limiter_state to one that is"

_SETTINGS = {
    "in the environment": (
        "settings",
        "export these variables with what the operator and the customer issued, or write a profile and name it",
    ),
    "chmod 600": ("settings", "run that `chmod`: a file with the secret is for you alone"),
    "are not TOML": ("settings", 'mend the file: a table `[name]`, then lines such as base_url = "https://host"'),
    "there is no profile": ("settings", "name a profile that the file has, or add this one"),
    "is not right (": (
        "settings",
        "correct the names in that table; base_url, api_key, shared_secret and access_key are needed",
    ),
    "cannot read the profiles": (
        "settings",
        "write that file, readable by you alone (mode 0600), or set the HEADLAND_ variables and name no profile",
    ),
    "the keyring has no secret": ("settings", "run that `keyring set` and paste the shared secret"),
    "headland[keyring]": ("settings", "run that `pip install`, or write shared_secret into the profile"),
    "keyring": ("settings", "unlock the system's keyring, or write shared_secret into the profile instead"),
    "plain http": ("address", "write `https://` in base_url"),
    "base_url": (
        "address",
        "set base_url to the address that the operator gave, such as https://host or https://host/path",
    ),
    "not base64": (
        "settings",
        "copy shared_secret again as it was issued: letters, digits, `+` and `/`, with its `=` signs, without quotes",
    ),
    "ca_file": ("TLS", "set ca_file to a file of certificates in PEM form: it begins with -----BEGIN CERTIFICATE-----"),
    "cannot set up TLS": ("TLS", "install the system's CA certificates (package ca-certificates), or set ca_file"),
    "api_key": ("settings", "copy api_key again as it was issued, without blanks or line ends"),
    "access_key": ("settings", "copy access_key again as the portal shows it, without blanks or line ends"),
    "": ("settings", "correct that setting"),
}
"""Words of an error about the settings: the step they belong to, and what to do. The first that fit count."""

_CERTIFICATES = {
    ("UnknownIssuer", "BadSignature", "UnsupportedSignature"): (
        "no authority known to this machine vouches for the certificate of {name}: if the operator, or a proxy that "
        "opens TLS, has an authority of its own, get its certificate as a PEM file and set ca_file (HEADLAND_CA_FILE)"
    ),
    ("CaUsedAsEndEntity",): (
        "{name} shows the certificate of an authority as its own: whoever runs it has to make one for the server, with "
        "basicConstraints CA:FALSE"
    ),
    ("xpired", "NotValidYet", "not valid yet"): (
        "the certificate is out of date by this machine's clock: check the clock; if it is right, tell the operator"
    ),
    ("NotValidForName", "not valid for"): (
        "the certificate is for another name than {name}: set base_url to the name that it is for"
    ),
    ("InvalidContentType", "corrupt"): (
        "what listens on port {port} of {name} does not speak TLS: check the port in base_url"
    ),
    ("",): "ask the operator about the certificate of {name}, or set ca_file if it has an authority of its own",
}
"""Words of an error about TLS, and what to do. The first that fit count."""


def about_settings(error: Exception) -> tuple[str, str]:
    """Give the step that a wrong setting belongs to, and what to do about it."""
    return next(told for words, told in _SETTINGS.items() if words in str(error))


def about_certificate(message: str) -> str:
    """Say what to do about a host that could not prove who it is."""
    return next(told for words, told in _CERTIFICATES.items() if any(word in message for word in words))
