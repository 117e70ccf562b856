/**
 * Which of `shards` parts of the work a node belongs to: FNV-1a, 32 bits, of its name in UTF-8, as
 * kube-controller-manager shares out its workers. All work of one node is in one shard.
 */
export function shardOf(nodeName: string, shards: number): number {
  let hash = 0x811c9dc5;
  for (const byte of utf8(nodeName)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0) % shards;
}

/** Node names are ASCII in every cluster; the rest is for names that only look like some. */
function* utf8(text: string): Generator<number> {
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (point < 0x80) yield point;
    else yield* multibyte(point);
  }
}

function* multibyte(point: number): Generator<number> {
  const tail = (shift: number): number => 0x80 | ((point >> shift) & 0x3f);
  if (point < 0x800) yield 0xc0 | (point >> 6);
  else if (point < 0x10000) {
    yield 0xe0 | (point >> 12);
    yield tail(6);
  } else {
    yield 0xf0 | (point >> 18);
    yield tail(12);
    yield tail(6);
  }
  yield tail(0);
}
