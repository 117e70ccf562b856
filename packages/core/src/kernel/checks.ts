// Fills in configured values, and checks them: each check throws a RangeError that names the field,
// shows the value and names the allowed values.

/** Stops on a mistake of our own. The cluster's oddities are data and never come here. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`taintmgr: broken invariant: ${message}`);
}

/** Throws RangeError: names the field, shows the value, says what is allowed. */
export function refuse(field: string, value: unknown, allowed: boolean, what: string): void {
  if (!allowed) throw new RangeError(`config.${field}: got ${JSON.stringify(value)}, want ${what}`);
}

/**
 * The defaults, overridden by the given values: a field that is there and undefined was not given.
 */
export function withDefaults<T extends object>(defaults: T, options: Partial<T>): T {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(given) };
}

/** Throws RangeError for a field that is true or false by default, and neither here; `path` begins its name. */
export function trueOrFalse<T extends object>(path: string, config: T, defaults: Partial<T>): void {
  const given = new Map<string, unknown>(Object.entries(config));
  for (const [field, value] of Object.entries(defaults)) {
    if (typeof value !== 'boolean') continue;
    const chosen = given.get(field);
    refuse(`${path}${field}`, chosen, typeof chosen === 'boolean', 'true or false');
  }
}

/** Throws RangeError for a field that is no option, as a slip of the pen makes it; `path` begins its name. */
export function noOthers<T extends object>(path: string, options: object, defaults: T): void {
  for (const field of Object.keys(options)) {
    if (Object.hasOwn(defaults, field)) continue;
    const known = Object.keys(defaults).join(', ');
    throw new RangeError(`config.${path}${field}: no such option, want one of ${known}`);
  }
}

/** Throws RangeError for a value that is not one of the allowed ones. */
export function oneOf(field: string, value: string, allowed: readonly string[]): void {
  refuse(field, value, allowed.includes(value), allowed.join(' or '));
}

/** Throws RangeError unless the value is a whole number from `min` on. */
export function wholeNumber(field: string, value: number, min: number): void {
  refuse(field, value, Number.isSafeInteger(value) && value >= min, `a whole number from ${min}`);
}

/** Throws RangeError unless the value is a number from `min` on. */
export function numberFrom(field: string, value: number, min: number): void {
  refuse(field, value, Number.isFinite(value) && value >= min, `a number from ${min}`);
}

/** Throws RangeError unless the value is a number above 0, up to `max`. */
export function positive(field: string, value: number, max: number): void {
  refuse(field, value, value > 0 && value <= max, `a number above 0, at most ${max}`);
}
