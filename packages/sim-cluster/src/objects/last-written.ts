// What an object became in bytes or text, for as long as no other is written: the answer to a write and
// the events that watches are told of it come one after the other, and say the same object.

/** The same for the object that it was called with last, if nobody can change that; `write` makes it. */
export function lastWritten<O extends object, T>(write: (object: O) => T): (object: O) => T {
  let last: { readonly object: O; readonly written: T } | null = null;
  return (object) => {
    if (last?.object === object) return last.written;
    const written = write(object);
    if (Object.isFrozen(object)) last = { object, written };
    return written;
  };
}
