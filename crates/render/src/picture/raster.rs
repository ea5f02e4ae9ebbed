//! PNG, with typefaces that travel with the program: it looks the same on a machine without any.

use std::io;
use std::sync::Arc;

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

/// Pixels per unit of the picture: enough to be sharp on a slide.
const SCALE: f32 = 2.0;

/// 256 MiB of pixels.
const MOST: f32 = 64.0 * 1024.0 * 1024.0;

/// The PNG of an SVG upon white. Fails for what is no SVG or too large, which ours are not.
pub(super) fn png(svg: &str) -> io::Result<Vec<u8>> {
    let mut typefaces = Database::new();
    typefaces.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
    typefaces.load_font_data(epaint_default_fonts::HACK_REGULAR.to_vec());
    let name = typefaces.faces().next().and_then(|face| face.families.first()).map(|(name, _)| name.clone());
    let name = name.unwrap_or_default();
    typefaces.set_sans_serif_family(name.clone());
    let options = Options { fontdb: Arc::new(typefaces), font_family: name, ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(io::Error::other)?;
    let size = tree.size();
    let scale = SCALE.min((MOST / (size.width() * size.height())).sqrt());
    let [width, height] = [size.width(), size.height()].map(|length| (length * scale).ceil() as u32);
    let mut pixels = Pixmap::new(width, height).ok_or_else(|| io::Error::other("the picture has no extent"))?;
    pixels.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use resvg::tiny_skia::{Pixmap, PremultipliedColorU8};

    use crate::picture::{png, samples};
    use charz_analysis::figure::{Body, Figure, MachineDiagram};

    fn pixels(figure: &Figure) -> Pixmap {
        let mut file = Vec::new();
        png(figure, &mut file).unwrap();
        Pixmap::decode_png(&file).unwrap()
    }

    #[test]
    fn text_needs_no_installed_typeface() {
        let is_dark = |pixel: &&PremultipliedColorU8| pixel.red().max(pixel.green()).max(pixel.blue()) < 0x60;
        let dark = |title: &str| {
            let nest = Body::MachineDiagram(MachineDiagram { parts: Vec::new(), orders: Vec::new() });
            pixels(&samples::figure("a", title, nest)).pixels().iter().filter(is_dark).count()
        };
        assert!(dark("The title") > dark("") + 100);
    }

    #[test]
    fn a_large_matrix_is_drawn() {
        let is_far = |pixel: &&PremultipliedColorU8| pixel.red() > 0xc0 && pixel.blue() < 0x70;
        let pixels = pixels(&samples::heat("heat", 80));
        assert!(pixels.pixels().iter().filter(is_far).count() > 10_000, "half of the pairs are far apart");
    }
}
