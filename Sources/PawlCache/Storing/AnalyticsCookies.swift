/// Cookies of web analytics. Scripts in the page set and read these cookies to count visits; no documentation of their makers
/// says that the site's own server uses them. Cookies by which a server may choose what it sends are not in the list (A/B tests,
/// personalisation, consent, bot detection).
package enum AnalyticsCookies {
  package static let globs: [CookieGlob] = [
    // Google Analytics: developers.google.com/analytics/devguides/collection/ga4/cookies-user-id and, for Universal Analytics,
    // developers.google.com/analytics/devguides/collection/analyticsjs/cookie-usage.
    "_ga", "_ga_*", "_gid", "_gat", "_gat_*", "_dc_gtm_*", "__utma", "__utmb", "__utmc", "__utmt", "__utmv", "__utmz",
    // Google's conversion linker: support.google.com/tagmanager/answer/7549390.
    "_gac_*", "_gcl_au", "_gcl_aw", "_gcl_dc", "_gcl_gb", "_gcl_gs", "_gcl_ha", "_gcl_gf",
    // Matomo: matomo.org/faq/general/faq_146.
    "_pk_id.*", "_pk_ses.*", "_pk_ref.*", "_pk_cvar.*", "_pk_hsr.*",
    // Microsoft Clarity: learn.microsoft.com/en-us/clarity/setup-and-installation/cookie-list.
    "_clck", "_clsk",
    // Microsoft Advertising's tag: help.ads.microsoft.com, "Cookies used by UET".
    "_uetsid", "_uetvid",
    // Meta's pixel: developers.facebook.com/docs/marketing-api/conversions-api/parameters/fbp-and-fbc.
    "_fbp", "_fbc",
    // Hotjar: help.hotjar.com, "Cookies set by the Hotjar tracking code".
    "_hjSession_*", "_hjSessionUser_*", "_hjFirstSeen", "_hjIncludedInPageviewSample", "_hjIncludedInSessionSample*",
    "_hjAbsoluteSessionInProgress", "_hjTLDTest", "_hjCookieTest", "_hjLocalStorageTest",
    // HubSpot's tracking code: knowledge.hubspot.com, "What cookies does HubSpot set in a visitor's browser". Not in the list:
    // the cookie by which its forms recognise a visitor.
    "__hstc", "__hssc", "__hssrc",
    // Yandex Metrica: yandex.com/support/metrica/general/cookie-usage.html.
    "_ym_uid", "_ym_d", "_ym_isad", "_ym_visorc*",
    // Snowplow: docs.snowplow.io, "Cookies and local storage" of the JavaScript tracker.
    "_sp_id.*", "_sp_ses.*",
    // Heap: help.heap.io, "How Heap uses cookies".
    "_hp2_id.*", "_hp2_ses_props.*", "_hp2_props.*", "_hp2_hld*",
    // Chartbeat: help.chartbeat.com, "Guide to cookies".
    "_cb", "_chartbeat2", "_cb_svref", "_cb_ls",
    // Mixpanel: docs.mixpanel.com, "Mixpanel cookies".
    "mp_*_mixpanel",
    // TikTok's pixel: ads.tiktok.com/help, "Using cookies with TikTok Pixel".
    "_ttp", "_tt_enable_cookie",
    // Pinterest's tag: help.pinterest.com, "Pinterest tag parameters and cookies".
    "_pin_unauth", "_derived_epik",
    // Adobe Analytics, but only the cookies that its own script alone reads: experienceleague.adobe.com, "Cookies used in
    // Analytics".
    "s_cc", "s_sq",
  ].map(CookieGlob.init)
}
