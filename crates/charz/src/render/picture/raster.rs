//! A picture of dots, with typefaces that travel with the program: it looks the same on a machine without any.

use std::io;
use std::sync::Arc;

use resvg::tiny_skia::{Color, ColorU8, FilterQuality, Pixmap, PixmapPaint, Transform};
use resvg::usvg::{Group, ImageKind, Node, Options, Tree, fontdb::Database};

/// Dots for each unit of the picture, so that it is sharp on a slide.
const SCALE: f32 = 2.0;

/// More dots than that are not drawn one by one: 256 MiB of colours.
const MOST: f32 = 64.0 * 1024.0 * 1024.0;

/// The PNG of an SVG without a ground, upon white.
///
/// # Errors
/// When the SVG cannot be understood or is too large; neither happens to our own.
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
    let mut dots = Pixmap::new(width, height).ok_or_else(|| io::Error::other("a picture without any extent"))?;
    let transform = Transform::from_scale(scale, scale);
    dots.fill(Color::WHITE);
    images(tree.root(), transform, &mut dots);
    resvg::render(&tree, transform, &mut dots.as_mut());
    dots.encode_png().map_err(io::Error::other)
}

/// Puts images where they stand, below everything else: resvg draws them only together with formats that charz does not write.
fn images(group: &Group, transform: Transform, dots: &mut Pixmap) {
    for node in group.children() {
        match node {
            Node::Group(inner) => images(inner, transform, dots),
            Node::Image(image) => {
                let ImageKind::PNG(file) = image.kind() else { continue };
                let Ok(own) = Pixmap::decode_png(file) else { continue };
                let place = transform.pre_concat(image.abs_transform());
                // A dot of it is a number: it has edges.
                let paint = PixmapPaint { quality: FilterQuality::Nearest, ..PixmapPaint::default() };
                dots.draw_pixmap(0, 0, own.as_ref(), &paint, place, None);
            }
            Node::Path(_) | Node::Text(_) => {}
        }
    }
}

/// The PNG of an image given dot by dot, row after row; `None` is transparent.
///
/// # Errors
/// When it has no extent, or cannot be written.
pub(super) fn dots(width: u32, height: u32, colours: impl Iterator<Item = Option<[u8; 3]>>) -> io::Result<Vec<u8>> {
    let mut image = Pixmap::new(width, height).ok_or_else(|| io::Error::other("an image without any extent"))?;
    for (dot, colour) in image.pixels_mut().iter_mut().zip(colours) {
        if let Some([red, green, blue]) = colour {
            *dot = ColorU8::from_rgba(red, green, blue, u8::MAX).premultiply();
        }
    }
    image.encode_png().map_err(io::Error::other)
}
