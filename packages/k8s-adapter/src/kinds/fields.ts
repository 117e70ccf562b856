// The forms that most fields of a table have. Their types have no names outside: declarations spell
// them out.

type Shared<Name extends string> = {
  readonly type: 'shared';
  readonly name: Name;
  readonly description: string;
};

/** Counts something that is there: 0 or more. */
export function count(description: string): Shared<'count'> {
  return { type: 'shared', name: 'count', description };
}

export function time(description: string): Shared<'time'> {
  return { type: 'shared', name: 'time', description };
}

export function duration(description: string): Shared<'duration'> {
  return { type: 'shared', name: 'duration', description };
}

/** A selector by labels. */
export function selector(description: string): Shared<'labelSelector'> {
  return { type: 'shared', name: 'labelSelector', description };
}

type Natural = {
  readonly type: 'integer';
  readonly description: string;
  readonly minimum: 0;
};

/** As `count`, described first. */
export function natural(description: string): Natural {
  return { type: 'integer', description, minimum: 0 };
}

type Whole = {
  readonly type: 'integer';
  readonly description: string;
  readonly minimum: number;
  readonly maximum: number;
};

/** A whole number within bounds. */
export function whole(description: string, bounds: readonly [min: number, max: number]): Whole;
export function whole(
  description: string,
  bounds: readonly [min: number, max: number],
  fallback: number,
): Whole & { readonly default: number };
export function whole(
  description: string,
  [minimum, maximum]: readonly [min: number, max: number],
  fallback?: number,
): Whole {
  const plain = { type: 'integer', description, minimum, maximum } as const;
  return fallback === undefined ? plain : { ...plain, ...{ default: fallback } };
}

type Text = {
  readonly type: 'string';
  readonly description: string;
  readonly maxLength: number;
};

export function text(description: string, maxLength: number): Text {
  return { type: 'string', description, maxLength };
}

/** A text of at least one character. */
export function filledText(
  description: string,
  maxLength: number,
): Text & { readonly minLength: 1 } {
  return { type: 'string', description, minLength: 1, maxLength };
}

type Word<Words> = {
  readonly type: 'string';
  readonly description: string;
  readonly enum: Words;
};

/** One of several words. */
export function word<const Words extends readonly string[]>(
  description: string,
  words: Words,
): Word<Words>;
export function word<const Words extends readonly string[]>(
  description: string,
  words: Words,
  fallback: Words[number],
): Word<Words> & { readonly default: string };
export function word<const Words extends readonly string[]>(
  description: string,
  words: Words,
  fallback?: string,
): Word<Words> {
  const plain = { type: 'string', description, enum: words } as const;
  return fallback === undefined ? plain : { ...plain, ...{ default: fallback } };
}

type Truth = {
  readonly type: 'boolean';
  readonly description: string;
  readonly default: boolean;
};

export function truth(description: string, fallback: boolean): Truth {
  return { type: 'boolean', description, default: fallback };
}
