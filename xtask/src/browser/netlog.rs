//! What a browser asked for, out of its own log.

/// Addresses that were asked for of a server, each once. Whatever stands in the file's own parts (`file:`, `data:`) is none, and
/// neither is what the browser asks for itself.
pub(super) fn requests(log: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for rest in log.split("\"url\":\"").skip(1) {
        let address = rest.split('"').next().unwrap_or_default();
        let is_remote = ["http:", "https:", "ws:", "wss:", "ftp:"].iter().any(|scheme| address.starts_with(scheme));
        if is_remote && !OWN.iter().any(|host| address.contains(host)) && !found.iter().any(|other| other == address) {
            found.push(address.to_owned());
        }
    }
    found
}

/// Hosts that a browser asks for itself, whatever it opens: its maker's services and extensions.
const OWN: [&str; 3] = [".google.com/", ".googleapis.com/", ".gvt1.com/"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_leaves_the_file_counts() {
        let log = r#"{"params":{"url":"file:///page.html"}},{"params":{"url":"https://example.org/a.js"}},
            {"params":{"url":"data:image/png;base64,AA"}},{"params":{"url":"https://example.org/a.js"}},
            {"params":{"url":"https://update.googleapis.com/service"}}"#;
        assert_eq!(requests(log), ["https://example.org/a.js"]);
    }
}
