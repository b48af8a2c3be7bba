//! The ELL format, the patterns of the grid equations, and the orders of elimination of their incomplete
//! factors.

/// Pattern of a matrix in ELL format ("packed matrix" of Liu, Zhong and Chen 2011) on the unknown points of a grid.
///
/// Each row has `width` slots. Its entries are shifted left, and unused slots must hold zero. Slot k of row r
/// is at `k * rows + r` (column-major). The columns follow from the position of a row and are not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EllPattern {
    /// The grid equations: 9 entries of the row's own variable and 4 of the other, fewer at the boundary.
    NinePoint(LevelSize),
    /// The matrix of [`Self::NinePoint`] by the ten numbers that its rows follow from where their weights are
    /// w = 1/(2 (g11 + g22)): two rows, x and y, of five slots a point hold
    ///
    /// (w g22, d), (X_xx, X_yy), (X_xy, X_yx), (Y_xx, Y_yy), (Y_xy, Y_yx),
    ///
    /// and the blocks are w g22 I ∓ X (W, E), (½ − w g22) I ∓ Y (S, N), d I (SW, NE), −d I (SE, NW) and −I (C); theory
    /// eq. 3–5. Those of neighbours that do not exist are no entries.
    TenNumbers(LevelSize),
    /// The wall columns: both rows of point (i, j) hold (p_i, q_i) of each wall at which line i ends, and (p_j, q_j) of
    /// each at which line j ends.
    WallColumns(LevelSize, WalledSides),
}

/// Size of a level: unknown points, two unknowns each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelSize {
    /// Points in i.
    pub mi: usize,
    /// Points in j.
    pub mj: usize,
    /// Whether the first and the last point of a row are neighbours.
    pub periodic: bool,
}

impl LevelSize {
    /// Values of a vector, two for each point.
    pub(crate) fn values(self) -> usize {
        2 * self.mi * self.mj
    }

    /// Number of the unknown point at an offset from (i, j), if it exists.
    fn neighbour(self, (i, j): (usize, usize), (di, dj): (isize, isize)) -> Option<usize> {
        let Self { mi, mj, periodic } = self;
        let j = j.checked_add_signed(dj).filter(|&j| j < mj)?;
        let i = match i.checked_add_signed(di) {
            Some(i) if i < mi => i,
            Some(_) if periodic => 0,
            None if periodic => mi - 1,
            _ => return None,
        };
        Some(j * mi + i)
    }
}

/// The sides of `mi` × `mj` unknown points that are walls with exact first cells, in the order j = 0, j = mj − 1, i = 0
/// and i = mi − 1: the points there are given, and their unknowns are the amplitudes (p, q) of wall terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WalledSides(pub [bool; 4]);

impl WalledSides {
    /// The side j = 0 alone: the section's wall.
    pub const SECTION: Self = Self([true, false, false, false]);

    /// Whether there is no wall.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Whether there are walls beside that at j = 0.
    pub fn has_others(self) -> bool {
        self.0[1..].contains(&true)
    }

    /// Whether there are walls on sides of constant i.
    pub fn has_beside(self) -> bool {
        self.0[2..].contains(&true)
    }

    /// A bit for each wall, in the order of sides.
    pub(crate) fn bits(self) -> u32 {
        self.sides().map(|side| 1 << side).sum()
    }

    /// The walls, by their places in the order of sides.
    pub fn sides(self) -> impl Iterator<Item = usize> {
        (0..4).filter(move |&side| self.0[side])
    }

    /// Point k along the wall of a side, among `mi` × `mj` points.
    pub(crate) fn point(side: usize, k: usize, mi: usize, mj: usize) -> usize {
        match side {
            0 => k,
            1 => mi * (mj - 1) + k,
            2 => mi * k,
            _ => mi * k + mi - 1,
        }
    }

    /// Whether the point (i, j) of `mi` × `mj` lies on a wall.
    pub(crate) fn holds(self, (i, j): (usize, usize), mi: usize, mj: usize) -> bool {
        let on = [j == 0, j + 1 == mj, i == 0, i + 1 == mi];
        on.into_iter().zip(self.0).any(|(on, wall)| on && wall)
    }

    /// Whether the point (i, j) lies on two walls: it is given, and has neither equation nor amplitudes.
    pub(crate) fn corner(self, (i, j): (usize, usize), mi: usize, mj: usize) -> bool {
        let [below, above, before, behind] = self.0;
        ((below && j == 0) || (above && j + 1 == mj))
            && ((before && i == 0) || (behind && i + 1 == mi))
    }
}

/// Entries of one row of the grid equations: (column offset in i, in j, other variable?), by rising
/// neighbour: nine of the row's own variable and four of the other.
pub(crate) const STENCIL: [(isize, isize, bool); 13] = [
    (-1, -1, false),
    (0, -1, false),
    (0, -1, true),
    (1, -1, false),
    (-1, 0, false),
    (-1, 0, true),
    (0, 0, false),
    (1, 0, false),
    (1, 0, true),
    (-1, 1, false),
    (0, 1, false),
    (0, 1, true),
    (1, 1, false),
];

/// Slots of [`EllPattern::TenNumbers`].
pub(crate) const TEN_SLOTS: usize = 5;

/// For each entry of [`STENCIL`], the entry of the neighbour's row that couples it to this one.
const MIRRORED: [usize; STENCIL.len()] = [12, 10, 11, 9, 7, 8, 6, 4, 5, 3, 1, 2, 0];

impl EllPattern {
    /// The places in [`STENCIL`] of the entries of a row of [`Self::NinePoint`], and their columns, which rise
    /// except for the neighbours across a seam.
    pub(crate) fn nine_point_entries(
        size: LevelSize,
        row: usize,
    ) -> impl Iterator<Item = (usize, usize)> {
        let (point, variable) = (row / 2, row % 2);
        let place = (point % size.mi, point / size.mi);
        STENCIL.into_iter().enumerate().filter_map(move |(entry, (di, dj, other))| {
            let k = size.neighbour(place, (di, dj))?;
            Some((entry, 2 * k + if other { 1 - variable } else { variable }))
        })
    }

    /// The position of (c, r) for each entry (r, c) of row r of [`Self::NinePoint`], slot by slot.
    pub(crate) fn mirrored(size: LevelSize, row: usize) -> impl Iterator<Item = usize> {
        Self::nine_point_entries(size, row).filter_map(move |(entry, column)| {
            let mut there = Self::nine_point_entries(size, column);
            let slot = there.position(|(other, _)| other == MIRRORED[entry])?;
            Some(slot * size.values() + column)
        })
    }

    /// Its points, with two rows each.
    pub fn size(self) -> LevelSize {
        let (Self::NinePoint(size) | Self::TenNumbers(size) | Self::WallColumns(size, _)) = self;
        size
    }

    /// Number of rows.
    pub fn rows(self) -> usize {
        self.size().values()
    }

    /// Number of slots in a row.
    pub fn width(self) -> usize {
        match self {
            Self::NinePoint(_) => STENCIL.len(),
            Self::TenNumbers(_) => TEN_SLOTS,
            Self::WallColumns(_, walls) => 2 * walls.sides().count(),
        }
    }

    /// (slot position, column) of each entry of a row; none of [`Self::TenNumbers`], whose slots are no entries.
    pub fn row(self, row: usize) -> impl Iterator<Item = (usize, usize)> {
        let (mut nine, mut wall) = (None, None);
        match self {
            Self::NinePoint(size) => {
                nine = Some(Self::nine_point_entries(size, row).map(|(_, column)| column));
            }
            Self::TenNumbers(_) => {}
            Self::WallColumns(LevelSize { mi, mj, .. }, walls) => {
                let (i, j) = ((row / 2) % mi, row / 2 / mi);
                wall = Some(walls.sides().flat_map(move |side| {
                    let k = if side < 2 { i } else { j };
                    let first = 2 * WalledSides::point(side, k, mi, mj);
                    first..first + 2
                }));
            }
        }
        let columns = nine.into_iter().flatten().chain(wall.into_iter().flatten());
        columns.enumerate().map(move |(slot, column)| (slot * self.rows() + row, column))
    }
}

/// The order in which the rows of incomplete factors are processed, and their synchronisation.
///
/// All schedules except [`Self::Colours`] and [`Self::Tiles`] apply the same M.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// For matrices by rows, the fastest of the schedules that apply the same M, timed in the first
    /// applications. For the grid equations, on a GPU tiles for DILU and levels for ILU(0), on the CPU
    /// natural order.
    #[default]
    Auto,
    /// Level sets: first the rows that depend on no other, then those that depend only on these, and so on
    /// (Anderson and Saad 1989; Wang and Liu 2022, algorithm 2). On a grid with a held seam they are i + 2j;
    /// a periodic grid has almost as many levels as points.
    Levels,
    /// Every row waits for the rows that it depends on, by a flag for each (Liu, Li, Hogg, Duff and Vinter
    /// 2016).
    SyncFree,
    /// One colour of rows after the other; no two neighbours have the same colour. There are few levels, but
    /// M is different. Points of a grid have four colours, or six around a seam with an odd number of points.
    Colours,
    /// Natural order within tiles, without the couplings between tiles, so M is different. A tile is `TILE` ×
    /// `TILE` points of a grid, or [`super::ROW_TILE`] consecutive rows of a matrix.
    Tiles,
}

/// Points in each direction of a tile.
pub(crate) const TILE: usize = 32;

/// The order of elimination of the rows of a pattern. Colours and tiles require the nine-point pattern. Other
/// patterns, and other schedules, use the natural order.
#[derive(Debug, Clone, Copy)]
pub struct Elimination {
    schedule: Schedule,
    size: LevelSize,
}

impl Elimination {
    /// The order of elimination for this schedule.
    pub fn new(pattern: EllPattern, schedule: Schedule) -> Self {
        let by_points = matches!(pattern, EllPattern::NinePoint(_));
        Self { schedule: if by_points { schedule } else { Schedule::Levels }, size: pattern.size() }
    }

    /// True if the factors keep the entry of a row in a column.
    pub fn keeps(&self, row: usize, column: usize) -> bool {
        if self.schedule != Schedule::Tiles {
            return true;
        }
        let ([i, j], [k, l]) = (self.place(row), self.place(column));
        // A tile as wide as the grid does not couple across the seam either.
        (i / TILE, j / TILE) == (k / TILE, l / TILE) && i.abs_diff(k) <= 1
    }

    /// The colour of every row, if the rows are eliminated by colours: those of one colour in their natural order.
    pub fn colours(&self) -> Option<Vec<u32>> {
        let colours = (0..self.size.values()).map(|row| self.colour(row) as u32);
        (self.schedule == Schedule::Colours).then(|| colours.collect())
    }

    fn place(&self, row: usize) -> [usize; 2] {
        [row / 2 % self.size.mi, row / 2 / self.size.mi]
    }

    fn colour(&self, row: usize) -> usize {
        let [i, j] = self.place(row);
        // Around the seam the last of an odd number of points meets the first, so it needs a third colour.
        let LevelSize { mi, periodic, .. } = self.size;
        let odd_end = periodic && !mi.is_multiple_of(2) && i + 1 == mi;
        3 * (j % 2) + if odd_end { 2 } else { i % 2 }
    }
}
