// The forms that fields of a table have, and the rules that several of them share. Their types have no
// names outside: declarations spell them out.
import type { Rule, Schema } from './schema.ts';

type Counted = {
  readonly type: 'integer';
  readonly minimum: 0;
  readonly description: string;
};

/** Counts something that is there: 0 or more. */
export function count(description: string): Counted {
  return { type: 'integer', minimum: 0, description };
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

type WholeOrPercent = {
  readonly type: 'integerOrString';
  readonly description: string;
  readonly rules: readonly Rule[];
};

/** A whole number within bounds, or a part of the whole, such as 10%, of `percents`. */
export function wholeOrPercent(
  description: string,
  [min, max]: readonly [min: number, max: number],
  percents: '[0-9]{1,2}' | '[1-9][0-9]?',
): WholeOrPercent {
  const pattern = `^(100|${percents})%$`;
  const rule = {
    cel: `type(self) == int ? self >= ${min} && self <= ${max} : self.matches('${pattern}')`,
    message: `want a whole number from ${min} to ${max}, or a part such as 10%`,
    holds: (self: number | string): boolean =>
      typeof self === 'number' ? self >= min && self <= max : new RegExp(pattern).test(self),
  };
  return { type: 'integerOrString', description, rules: [rule] };
}

type Characters = {
  readonly type: 'string';
  readonly maxLength: number;
};

/** A text that needs no description. */
export function characters(maxLength: number): Characters {
  return { type: 'string', maxLength };
}

/** The same of at least one character. */
export function filledCharacters(maxLength: number): Characters & { readonly minLength: 1 } {
  return { type: 'string', minLength: 1, maxLength };
}

type Text = Characters & { readonly description: string };

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

/** A text that has to match; `message` says in words what the pattern means. */
export function pattern(
  description: string,
  maxLength: number,
  matches: string,
  message: string,
): Text & { readonly rules: readonly Rule[] } {
  return { type: 'string', description, maxLength, rules: [{ matches, message }] };
}

type Word<Words> = {
  readonly type: 'string';
  readonly description: string;
  readonly enum: Words;
};

/** A field with one of several words. */
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

type Time = {
  readonly type: 'string';
  readonly unit: 'time';
  readonly format: 'date-time';
  readonly description: string;
  readonly maxLength: 64;
};

export function time(description: string): Time {
  return { type: 'string', unit: 'time', format: 'date-time', description, maxLength: 64 };
}

type Duration = {
  readonly type: 'string';
  readonly unit: 'duration';
  readonly description: string;
  readonly maxLength: 32;
  readonly rules: readonly Rule[];
};

const wantDuration: Rule = {
  matches: '^(0|([0-9]{1,6}([.][0-9]{1,6})?(ms|s|m|h))+)$',
  message: 'want a duration such as 30s, 10m or 1h30m',
};

export function duration(description: string, rules: readonly Rule[] = [wantDuration]): Duration {
  return { type: 'string', unit: 'duration', description, maxLength: 32, rules };
}

type List<Items> = {
  readonly type: 'array';
  readonly description: string;
  readonly maxItems: number;
  readonly items: Items;
};

export function list<const Items extends Schema>(
  description: string,
  maxItems: number,
  items: Items,
): List<Items> {
  return { type: 'array', description, maxItems, items };
}

/** A list that is left out rather than empty. */
export function filledList<const Items extends Schema>(
  description: string,
  maxItems: number,
  items: Items,
): List<Items> & { readonly minItems: 1 } {
  return { type: 'array', description, minItems: 1, maxItems, items };
}

/** A list whose entries are told apart by their members. */
export function keyedList<const Items extends Schema>(
  description: string,
  maxItems: number,
  items: Items,
  mapKeys: readonly string[] = ['name'],
): List<Items> & { readonly mapKeys: readonly string[] } {
  return { type: 'array', description, maxItems, mapKeys, items };
}

type Members = Readonly<Record<string, Schema>>;

/** The options of an object beside its members. */
interface Beside {
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly rules?: readonly Rule[];
}

type Structure<Properties> = {
  readonly type: 'object';
  readonly description: string;
  readonly properties: Properties;
};

export function object<const Properties extends Members>(
  description: string,
  properties: Properties,
): Structure<Properties>;
export function object<const Properties extends Members, const More extends Beside>(
  description: string,
  properties: Properties,
  more: More,
): Structure<Properties> & More;
export function object(description: string, properties: Members, more?: Beside): unknown {
  return { type: 'object', description, ...more, properties };
}

type Entry<Required, Properties> = {
  readonly type: 'object';
  readonly required: Required;
  readonly properties: Properties;
};

/** An entry of a list, which needs no description. */
export function entry<const Required extends readonly string[], const Properties extends Members>(
  required: Required,
  properties: Properties,
): Entry<Required, Properties> {
  return { type: 'object', required, properties };
}

type Given = Readonly<Record<string, unknown>>;

/** At least one of these members must be there. */
export function someOf(members: readonly string[], message: string): Rule {
  return {
    cel: members.map((one) => `has(self.${one})`).join(' || '),
    message,
    holds: (self: Given) => members.some((one) => self[one] !== undefined),
  };
}

/** Exactly one of two members must be there. */
export function eitherOf(one: string, other: string, message: string): Rule {
  return {
    cel: `has(self.${one}) != has(self.${other})`,
    message,
    holds: (self: Given) => (self[one] !== undefined) !== (self[other] !== undefined),
  };
}

/** A member that means nothing without one of the others. */
export function onlyBeside(member: string, others: readonly string[]): Rule {
  return {
    cel: `!has(self.${member}) || ${others.map((one) => `has(self.${one})`).join(' || ')}`,
    message: `want none without ${others.join(' or ')}`,
    fieldPath: `.${member}`,
    holds: (self: Given) =>
      self[member] === undefined || others.some((one) => self[one] !== undefined),
  };
}

/** A value that stays as it is from the first. */
export const unchangeable: Rule = {
  cel: 'self == oldSelf',
  message: 'cannot be changed: delete the drain, which undoes it, and make another',
  // A parsed value has no past.
  holds: () => true,
};

/** The names of namespaces. */
export const namespacePattern = {
  ...characters(63),
  rules: [
    {
      matches: '^[-a-z0-9*]+$',
      message: 'want the name of a namespace, in which * stands for any characters',
    },
  ],
} as const;

const namePattern = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const keyPattern = `^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?${namePattern}$`;

/** The key of a label or a taint. */
export function keyText(
  description: string,
  message: string,
): Text & { readonly rules: readonly Rule[] } {
  return pattern(description, 317, keyPattern, message);
}

const labelValue = {
  ...characters(63),
  rules: [{ matches: `^(${namePattern})?$`, message: "want letters, digits, '-', '_' and '.'" }],
} as const;

const matchExpression = object(
  'A requirement on one label.',
  {
    key: keyText('Key of the label.', 'want a label key such as app or example.com/app'),
    operator: word('Relation of the label to the values.', [
      'DoesNotExist',
      'Exists',
      'In',
      'NotIn',
    ]),
    values: list(
      'Values of the label. Required with In and NotIn; must be unset otherwise.',
      32,
      labelValue,
    ),
  },
  {
    required: ['key', 'operator'],
    rules: [
      {
        cel: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
        message: 'want values with In and NotIn, none with Exists and DoesNotExist',
        holds: (self: { operator: string; values?: readonly string[] }): boolean =>
          ['In', 'NotIn'].includes(self.operator) === (self.values ?? []).length > 0,
      },
    ],
  },
);

const selectorMembers = {
  matchLabels: {
    type: 'map',
    description: 'Labels that must be present with these values.',
    maxProperties: 32,
    values: labelValue,
  },
  // With more, rules of lists of selectors may cost more than an API server allows.
  matchExpressions: list('Requirements on labels.', 16, matchExpression),
} as const;

/** A selector by labels. */
export function selector(description: string): Structure<typeof selectorMembers> {
  return object(description, selectorMembers);
}

export const taintKey: ReturnType<typeof keyText> = keyText(
  'Key of the taint.',
  'want a taint key such as maintenance or example.com/maintenance',
);

export const taintValue: ReturnType<typeof pattern> = pattern(
  'Value of the taint.',
  63,
  `^(${namePattern})?$`,
  "want at most 63 letters, digits, '-', '_' and '.'",
);

export const observedGeneration: Natural = natural(
  'Generation of the spec that the controller last applied.',
);

export const conditions = keyedList(
  'Conditions of the object.',
  16,
  entry(['type', 'status', 'lastTransitionTime', 'reason', 'message'], {
    type: text('Type of the condition.', 316),
    status: word('Status of the condition.', ['False', 'True', 'Unknown']),
    observedGeneration: natural('Generation of the spec that the condition is based on.'),
    lastTransitionTime: {
      type: 'string',
      description: 'When the status of the condition last changed.',
      format: 'date-time',
    },
    reason: text('One-word reason for the status, for programs.', 1024),
    message: text('Human-readable explanation of the status.', 32768),
  }),
  ['type'],
);
