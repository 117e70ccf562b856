// The bytes or text of the object written last: the answer to a write and the watch events about it
// come one after the other, and show the same object.

/**
 * Returns a function that keeps the result for the object that it was called with last, if that
 * object is immutable; `write` makes the result.
 */
export function lastWritten<O extends object, T>(write: (object: O) => T): (object: O) => T {
  let last: { readonly object: O; readonly written: T } | null = null;
  return (object) => {
    if (last?.object === object) return last.written;
    const written = write(object);
    if (Object.isFrozen(object)) last = { object, written };
    return written;
  };
}
