// What is wrong with a manifest, in the words of the API server.

/** The steps that lead to a value. */
export type Path = readonly (string | number)[];

/** One thing that is wrong. */
export interface ManifestFault {
  /** The value that it is about, or where that should be. */
  readonly path: Path;
  /** As the API server says it, the path first. */
  readonly text: string;
  /** Rules are not asked about an object of which this is wrong. */
  readonly endsChecks: boolean;
}

/** `spec.match.taints[0].key` */
function pathText(path: Path): string {
  const parts = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`));
  return parts.join('').replace(/^\./, '');
}

/** The API server warns of it, kubectl refuses it. */
export function unknownField(path: Path): ManifestFault {
  return { path, text: `unknown field "${pathText(path)}"`, endsChecks: false };
}

export function requiredValue(path: Path): ManifestFault {
  return { path, text: `${pathText(path)}: Required value`, endsChecks: true };
}

export function wrongType(path: Path, want: string, value: unknown): ManifestFault {
  return notOfType(path, want, typeName(value));
}

/** The API server names Go's type of a number here, and none of what is no number. */
export function wrongFormat(path: Path, want: string, value: unknown): ManifestFault {
  if (typeof value === 'string') return notOfType(path, want, value);
  const isInteger = typeName(value) === 'integer';
  return notOfType(path, want, typeof value !== 'number' ? '' : isInteger ? 'int64' : 'float64');
}

function notOfType(path: Path, want: string, shown: string): ManifestFault {
  const [name, got] = [pathText(path), JSON.stringify(shown)];
  const text = `${name}: Invalid value: ${got}: ${name} in body must be of type ${want}: ${got}`;
  return { path, text, endsChecks: true };
}

/** What the API server says of a number that no integer can hold, beside its wrong type. */
export function noInteger(path: Path): ManifestFault {
  const why = `Checked value must be of type integer (default format) in ${pathText(path)}`;
  return { path, text: why, endsChecks: false };
}

export function unsupported(path: Path, value: unknown, words: readonly string[]): ManifestFault {
  const [got, want] = [JSON.stringify(value), words.map((word) => JSON.stringify(word)).join(', ')];
  const text = `${pathText(path)}: Unsupported value: ${got}: supported values: ${want}`;
  return { path, text, endsChecks: true };
}

/** Runes, whatever the API server calls them. */
export function tooLong(path: Path, most: number): ManifestFault {
  const unit = most === 1 ? 'byte' : 'bytes';
  const text = `${pathText(path)}: Too long: may not be more than ${most} ${unit}`;
  return { path, text, endsChecks: true };
}

export function tooMany(path: Path, count: number, most: number): ManifestFault {
  const unit = most === 1 ? 'item' : 'items';
  const text = `${pathText(path)}: Too many: ${count}: must have at most ${most} ${unit}`;
  return { path, text, endsChecks: true };
}

/** `spec.priority: Invalid value: -1: spec.priority in body should be …` */
export function outOfBounds(path: Path, value: unknown, bound: string): ManifestFault {
  const name = pathText(path);
  return invalid(path, value, `${name} in body should ${bound}`);
}

/** What is broken is shown where it is one value. */
export function invalid(path: Path, value: unknown, why: string): ManifestFault {
  const shown =
    typeof value === 'object' || value === undefined ? '' : `${JSON.stringify(value)}: `;
  return { path, text: `${pathText(path)}: Invalid value: ${shown}${why}`, endsChecks: false };
}

/** The API server's last words about an object whose rules it could not ask, without the `<nil>` before them. */
export const rulesNotChecked: ManifestFault = {
  path: [],
  text: 'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  endsChecks: true,
};

/** Integers of the API server have 64 bits; what is beyond them it reads as another number. */
const integerEnd = 2 ** 63;

export function isInteger(value: unknown): boolean {
  if (typeof value !== 'number' || !Number.isInteger(value)) return false;
  return value < integerEnd && value >= -integerEnd;
}

/** As JSON Schema calls it. */
function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return isInteger(value) ? 'integer' : 'number';
  return typeof value;
}
