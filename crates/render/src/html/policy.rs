//! The page's own style and script, and the policy that nothing else may run or be fetched.

pub(super) const STYLE: &str = concat!(include_str!("page.css"), include_str!("parts.css"), include_str!("print.css"));

/// All of the page's script. The first part has what the others use.
pub(super) const SCRIPT: &str = concat!(
    include_str!("base.js"),
    include_str!("table.js"),
    include_str!("plot.js"),
    include_str!("legend.js"),
    include_str!("heat.js"),
    include_str!("machine.js"),
);

/// What a browser may do with the page: show its style, run its script, and show its icon, which is empty. Everything else that
/// could be fetched, sent or run is refused (<https://www.w3.org/TR/CSP3/>). A test compares the digests with style and script.
pub(super) const POLICY: &str = "default-src 'none'; img-src data:; \
    style-src 'sha256-vym3Anm5cN0UJIsJT4nsRf/5SefQ8kkU2xVhGxSvobI='; \
    script-src 'sha256-cAu5w/6G+Yw7zq/L6HFR44tsz9AIwM1dgGs1PdzYUqI='; \
    base-uri 'none'; form-action 'none'";

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn the_policy_admits_this_style_and_this_script() {
        for (source, text) in [("style-src", STYLE), ("script-src", SCRIPT)] {
            let own = format!("; {source} 'sha256-{}';", STANDARD.encode(Sha256::digest(text)));
            assert!(POLICY.contains(&own), "POLICY has to say{own}");
        }
    }

    #[test]
    fn style_and_script_cannot_end_early() {
        for text in [STYLE, SCRIPT] {
            assert!(!text.contains("</") && !text.contains("<!--"), "an element would end within");
            assert!(
                text.is_ascii() && !text.contains('\r'),
                "a digest is of bytes, and a parser may change what is not plain"
            );
        }
    }

    #[test]
    fn nothing_is_fetched() {
        for word in ["http:", "https:", "//cdn", "@import", "url(", "fetch(", "XMLHttpRequest", "eval(", "innerHTML"] {
            assert!(!STYLE.contains(word) && !SCRIPT.contains(word), "{word}");
        }
    }
}
