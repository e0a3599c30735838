/** Where the names of points go: above them, or else where they cover no other name and no other point. */

/** A point with the width of its name; all lengths in pixels of the canvas. */
export interface Named {
  x: number;
  y: number;
  width: number;
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/**
 * @param inside where names may stand
 * @param height of a name
 * @param gap from a point to its name, the radius of the point included
 * @returns the middle of each name
 */
export function placeLabels(points: readonly Named[], inside: Box, height: number, gap: number) {
  const taken = points.map(({ x, y }) => around(x, y, gap, gap));
  return points.map(({ x, y, width }) => {
    const beside = gap + width / 2;
    const over = gap + height / 2;
    const places = [
      { x, y: y - over },
      { x: x + beside, y },
      { x: x - beside, y },
      { x, y: y + over },
      { x: x + beside, y: y - over },
      { x: x - beside, y: y - over },
    ];
    const boxOf = (place: { x: number; y: number }) => around(place.x, place.y, width, height);
    const free = places.find((place) => {
      const box = boxOf(place);
      return within(box, inside) && !taken.some((other) => overlap(box, other));
    });
    const chosen = free ?? { x, y: y - over };
    taken.push(boxOf(chosen));
    return chosen;
  });
}

function around(x: number, y: number, width: number, height: number): Box {
  return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
}

function within(box: Box, outer: Box): boolean {
  return box.left >= outer.left && box.right <= outer.right && box.top >= outer.top && box.bottom <= outer.bottom;
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
