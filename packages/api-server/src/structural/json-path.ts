// The simple JSON paths of printer columns and selectable fields.

import type { Json } from '@taintmgr/sim-cluster/server';
import { equal, isList, isObject } from '@taintmgr/sim-cluster/server';

/** A step of a path. */
type Step =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'index'; readonly at: number }
  | { readonly kind: 'all' }
  | {
      readonly kind: 'filter';
      readonly path: readonly Step[];
      readonly value: Json;
      readonly is: boolean;
    };

/** The steps of a path such as `.status.conditions[?(@.type=="Ready")].status`; null: it is none. */
export function parsePath(text: string): readonly Step[] | null {
  const steps: Step[] = [];
  let rest = text;
  while (rest !== '') {
    const found = nextStep(rest);
    if (!found) return null;
    steps.push(found.step);
    rest = rest.slice(found.length);
  }
  return steps;
}

interface Found {
  readonly step: Step;
  readonly length: number;
}

function nextStep(text: string): Found | null {
  const all = /^(?:\.\*|\[\*\])/.exec(text);
  if (all) return { step: { kind: 'all' }, length: all[0].length };
  const member = /^\.((?:\\.|[^.[\]\\])+)/.exec(text);
  if (member) return memberFound(member, (member[1] ?? '').replace(/\\(.)/g, '$1'));
  const quoted = /^\[(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)")\]/.exec(text);
  if (quoted) return memberFound(quoted, (quoted[1] ?? quoted[2] ?? '').replace(/\\(.)/g, '$1'));
  const index = /^\[(-?\d+)\]/.exec(text);
  if (index) return { step: { kind: 'index', at: Number(index[1]) }, length: index[0].length };
  const filter = /^\[\?\(@([^=!\]]*)(==|!=)\s*("[^"]*"|'[^']*'|[^'")\]\s][^'")\]]*)\)\]/.exec(text);
  const path = filter ? parsePath((filter[1] ?? '').trimEnd()) : null;
  if (!filter || !path) return null;
  const step = {
    kind: 'filter',
    path,
    value: literal(filter[3] ?? ''),
    is: filter[2] === '==',
  } as const;
  return { step, length: filter[0].length };
}

function memberFound(match: RegExpExecArray, name: string): Found {
  return { step: { kind: 'member', name }, length: match[0].length };
}

function literal(text: string): Json {
  if (/^["']/.test(text)) return text.slice(1, -1);
  if (text === 'true' || text === 'false') return text === 'true';
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}

/** The values at a path, in order. */
export function findAll(steps: readonly Step[], value: Json | undefined): readonly Json[] {
  let found: readonly Json[] = value === undefined ? [] : [value];
  for (const step of steps) found = found.flatMap((here) => follow(step, here));
  return found;
}

function follow(step: Step, value: Json): readonly Json[] {
  switch (step.kind) {
    case 'member': {
      const has = isObject(value) && Object.hasOwn(value, step.name);
      return has ? [value[step.name] ?? null] : [];
    }
    case 'index': {
      const item = isList(value) ? value.at(step.at) : undefined;
      return item === undefined ? [] : [item];
    }
    case 'all':
      return isList(value) ? value : isObject(value) ? Object.values(value) : [];
    case 'filter':
      if (!isList(value)) return [];
      return value.filter((item) => {
        const [first] = findAll(step.path, item);
        return first !== undefined && equal(first, step.value) === step.is;
      });
  }
}
