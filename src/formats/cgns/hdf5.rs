//! The part of HDF5 that a CGNS tree needs: groups with attributes, and contiguous arrays.
//!
//! The numbers of an array are requested when its place in the file is reached, so that a grid is
//! streamed; libraries that write HDF5 without C hold all arrays until the end. Addresses follow
//! from the sizes of the headers alone and are known before the first byte. Superblock version 0,
//! object headers version 1, groups with link messages, which every HDF5 since 1.8 reads. Source:
//! "HDF5 File Format Specification Version 3.0",
//! <https://support.hdfgroup.org/documentation/hdf5/latest/_f_m_t3.html>.
//!
//! A node of the tree is a group with the attributes `name`, `label`, `type` and `flags`; its data
//! are the array ` data` within. Source: "CGNS HDF5 file mapping",
//! <https://cgns.org/standard/FMM/hdf5.html>.

use std::borrow::Cow;
use std::io;

use crate::files::ByteSink;

/// An address that leads nowhere.
const UNDEFINED: u64 = u64::MAX;
/// Bytes of the superblock with the entry of the root group.
const SUPERBLOCK_BYTES: u64 = 96;
/// Messages and objects start at multiples of this.
const ALIGNMENT: usize = 8;
/// Longest names and labels of nodes, their ending zero included.
const NAME_BYTES: usize = 33;

/// Types of messages in object headers.
const DATASPACE: u16 = 0x01;
const LINK_INFO: u16 = 0x02;
const DATATYPE: u16 = 0x03;
const FILL_VALUE: u16 = 0x05;
const LINK: u16 = 0x06;
const LAYOUT: u16 = 0x08;
const GROUP_INFO: u16 = 0x0a;
const ATTRIBUTE: u16 = 0x0c;

/// Writes the numbers of an array, little-endian.
pub(super) type Fill<'a> = Box<dyn Fn(&mut ByteSink<'_>) -> io::Result<()> + 'a>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    /// Characters, as 8-bit integers.
    C1,
    I4,
    R4,
    R8,
}

impl Number {
    /// The name in CGNS, and bytes of a number.
    fn facts(self) -> (&'static str, u8) {
        match self {
            Self::C1 => ("C1", 1),
            Self::I4 => ("I4", 4),
            Self::R4 => ("R4", 4),
            Self::R8 => ("R8", 8),
        }
    }

    /// The datatype message: class and version, bit field, size, bits; of floating-point numbers also
    /// place and bits of exponent and mantissa, and the bias.
    fn message(self) -> Vec<u8> {
        let (_, bytes) = self.facts();
        let (class, float): (_, &[u8]) = match self {
            Self::C1 | Self::I4 => ([0x10, 0x08, 0, 0], &[]),
            Self::R4 => ([0x11, 0x20, 31, 0], &[23, 8, 0, 23, 127, 0, 0, 0]),
            Self::R8 => ([0x11, 0x20, 63, 0], &[52, 11, 0, 52, 0xff, 0x03, 0, 0]),
        };
        [&class[..], &[bytes, 0, 0, 0, 0, 0, 8 * bytes, 0], float].concat()
    }
}

/// The data of a node.
pub(super) struct Array<'a> {
    number: Number,
    /// Slowest first.
    shape: Vec<usize>,
    fill: Fill<'a>,
}

impl<'a> Array<'a> {
    /// An array whose numbers `fill` writes, the last index of `shape` fastest.
    pub(super) fn new(number: Number, shape: Vec<usize>, fill: Fill<'a>) -> Self {
        Self { number, shape, fill }
    }

    /// An array whose bytes are known.
    fn at_hand(number: Number, shape: Vec<usize>, bytes: Vec<u8>) -> Self {
        Self::new(number, shape, Box::new(move |out| out.write_all(&bytes)))
    }

    fn bytes(&self) -> u64 {
        let (_, bytes) = self.number.facts();
        self.shape.iter().map(|&n| n as u64).product::<u64>() * u64::from(bytes)
    }

    fn header(&self, at: u64) -> Vec<u8> {
        let layout = [&[3, 1][..], &at.to_le_bytes(), &self.bytes().to_le_bytes()].concat();
        object_header(&[
            (DATASPACE, dataspace(&self.shape)),
            (DATATYPE, self.number.message()),
            // Version 2; storage allocated late, nothing filled in.
            (FILL_VALUE, vec![2, 2, 1, 0]),
            (LAYOUT, layout),
        ])
    }
}

pub(super) struct Node<'a> {
    name: Cow<'static, str>,
    label: &'static str,
    /// Its type: that of its data, if it has any.
    kind: &'static str,
    /// Its data under the name ` data`; of the root what CGNS wants there.
    arrays: Vec<(&'static str, Array<'a>)>,
    children: Vec<Node<'a>>,
}

impl<'a> Node<'a> {
    pub(super) fn new(name: impl Into<Cow<'static, str>>, label: &'static str) -> Self {
        Self { name: name.into(), label, kind: "MT", arrays: Vec::new(), children: Vec::new() }
    }

    pub(super) fn with(self, data: Array<'a>) -> Self {
        Self { kind: data.number.facts().0, arrays: vec![(" data", data)], ..self }
    }

    pub(super) fn text(self, text: &str) -> Self {
        self.with(Array::at_hand(Number::C1, vec![text.len()], text.into()))
    }

    pub(super) fn integers(self, shape: Vec<usize>, values: &[i32]) -> Self {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.with(Array::at_hand(Number::I4, shape, bytes))
    }

    pub(super) fn singles(self, values: &[f32]) -> Self {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.with(Array::at_hand(Number::R4, vec![values.len()], bytes))
    }

    /// Adds these nodes below it, after others.
    pub(super) fn above(mut self, children: impl IntoIterator<Item = Node<'a>>) -> Self {
        self.children.extend(children);
        self
    }

    /// The header with these addresses of the arrays and the nodes below.
    fn header(&self, addresses: &[u64]) -> Vec<u8> {
        let flags = (Number::I4.message(), dataspace(&[1]), 1_i32.to_le_bytes().to_vec());
        // Links are kept in the header, and their order of creation is tracked: CGNS lists nodes by it.
        let values = [addresses.len() as u64, UNDEFINED, UNDEFINED].map(u64::to_le_bytes);
        let link_info = [&[0, 1][..], values.as_flattened()].concat();
        let mut messages = vec![(LINK_INFO, link_info), (GROUP_INFO, vec![0, 0])];
        messages.extend([
            attribute("name", string(&self.name, NAME_BYTES)),
            attribute("label", string(self.label, NAME_BYTES)),
            attribute("type", string(self.kind, 3)),
            attribute("flags", flags),
        ]);
        let arrays = self.arrays.iter().map(|(name, _)| *name);
        let names = arrays.chain(self.children.iter().map(|child| &*child.name));
        let links = names.zip(addresses).enumerate();
        messages.extend(links.map(|(order, (name, &at))| link(name, order, at)));
        object_header(&messages)
    }

    /// Places the node and all below it from `end` on, in the order of the file; returns the address of
    /// its header.
    fn place<'n>(&'n self, end: &mut u64, objects: &mut Vec<Object<'n, 'a>>) -> u64 {
        let at = *end;
        let mut addresses = vec![0; self.arrays.len() + self.children.len()];
        *end += self.header(&addresses).len() as u64;
        let place = objects.len();
        objects.push(Object::Header(Vec::new()));
        let (arrays, nodes) = addresses.split_at_mut(self.arrays.len());
        for (address, (_, array)) in arrays.iter_mut().zip(&self.arrays) {
            *address = *end;
            let data = *end + array.header(0).len() as u64;
            objects.extend([Object::Header(array.header(data)), Object::Numbers(array)]);
            *end = data + aligned(array.bytes());
        }
        for (address, child) in nodes.iter_mut().zip(&self.children) {
            *address = child.place(end, objects);
        }
        objects[place] = Object::Header(self.header(&addresses));
        at
    }
}

/// A part of the file after the superblock.
enum Object<'n, 'a> {
    Header(Vec<u8>),
    Numbers(&'n Array<'a>),
}

/// Writes a file whose root has these nodes below it.
pub(super) fn write(out: &mut ByteSink<'_>, children: Vec<Node<'_>>) -> io::Result<()> {
    let text = |name, text: &str, length| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(length, 0);
        (name, Array::at_hand(Number::C1, vec![length], bytes))
    };
    let arrays =
        vec![text(" format", "IEEE_LITTLE_32", 15), text(" hdf5version", "HDF5 1.8", NAME_BYTES)];
    let root = Node::new("HDF5 MotherNode", "Root Node of HDF5 File");
    let root = Node { arrays, children, ..root };
    let (mut objects, mut end) = (Vec::new(), SUPERBLOCK_BYTES);
    let root_at = root.place(&mut end, &mut objects);
    out.write_all(&superblock(root_at, end))?;
    objects.into_iter().try_for_each(|object| match object {
        Object::Header(bytes) => out.write_all(&bytes),
        Object::Numbers(array) => {
            (array.fill)(out)?;
            let bytes = array.bytes();
            out.write_all(&[0; ALIGNMENT][..(aligned(bytes) - bytes) as usize])
        }
    })
}

fn aligned(bytes: u64) -> u64 {
    bytes.next_multiple_of(ALIGNMENT as u64)
}

fn superblock(root: u64, end: u64) -> Vec<u8> {
    let mut bytes = b"\x89HDF\r\n\x1a\n".to_vec();
    // Versions of the superblock and of four structures, with sizes of offsets and of lengths.
    bytes.extend([0, 0, 0, 0, 0, 8, 8, 0]);
    // Half the entries of a leaf and of an inner node of groups of the old kind, of which there are
    // none; consistency flags.
    bytes.extend([4, 0, 16, 0, 0, 0, 0, 0]);
    for address in [0, UNDEFINED, end, UNDEFINED, 0, root] {
        bytes.extend(address.to_le_bytes());
    }
    // Nothing cached about the root.
    bytes.resize(SUPERBLOCK_BYTES as usize, 0);
    bytes
}

fn object_header(messages: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (kind, message) in messages {
        let length = message.len().next_multiple_of(ALIGNMENT);
        body.extend(kind.to_le_bytes());
        body.extend((length as u16).to_le_bytes());
        body.extend([0; 4]);
        body.extend(message);
        body.resize(body.len() + length - message.len(), 0);
    }
    let (count, length) = (messages.len() as u16, body.len() as u32);
    // One link leads here.
    let links = 1_u32.to_le_bytes();
    [&[1, 0][..], &count.to_le_bytes(), &links, &length.to_le_bytes(), &[0; 4], &body].concat()
}

/// A dataspace of this shape; of one number if it is empty.
fn dataspace(shape: &[usize]) -> Vec<u8> {
    let mut message = vec![1, shape.len() as u8, 0, 0, 0, 0, 0, 0];
    message.extend(shape.iter().flat_map(|&n| (n as u64).to_le_bytes()));
    message
}

/// Datatype, dataspace and bytes of a text of this number of bytes, ended by zeros.
fn string(text: &str, length: usize) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(length, 0);
    let datatype = [[0x13, 0, 0, 0], (length as u32).to_le_bytes()].concat();
    (datatype, dataspace(&[]), bytes)
}

fn attribute(
    name: &str,
    (datatype, dataspace, data): (Vec<u8>, Vec<u8>, Vec<u8>),
) -> (u16, Vec<u8>) {
    let name = [name.as_bytes(), &[0]].concat();
    let mut message = vec![1, 0];
    for part in [&name, &datatype, &dataspace] {
        message.extend((part.len() as u16).to_le_bytes());
    }
    for part in [name, datatype, dataspace] {
        message.extend(&part);
        message.resize(message.len().next_multiple_of(ALIGNMENT), 0);
    }
    message.extend(data);
    (ATTRIBUTE, message)
}

fn link(name: &str, order: usize, at: u64) -> (u16, Vec<u8>) {
    let (order, length) = ((order as u64).to_le_bytes(), [name.len() as u8]);
    (LINK, [&[1, 0x04][..], &order, &length, name.as_bytes(), &at.to_le_bytes()].concat())
}
