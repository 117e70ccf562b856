// A question of the page's form as a command line of `simulate`. Says which field is wrong, and what is allowed.
import { formatTaint, parseTaint } from '@taintmgr/core';
import { formatDuration, type Millis, parseDuration } from '@taintmgr/core/time';
import { didYouMean } from '@taintmgr/k8s-adapter/manifests';
import { type WhatIf, whatIfEvents } from '@taintmgr/page';
import type { Evictor } from '../../../cluster/evictors.ts';
import type { NodeFacts } from '../../../cluster/facts.ts';
import { yamlLineOf } from '../../../render/yaml.ts';
import { zoneOf } from '../../../report/zones.ts';
import { UsageError } from '../../../usage-error.ts';

/** What a question is asked of. */
export interface Asked {
  readonly nodes: readonly NodeFacts[];
  /** By whose rules pods go there. */
  readonly rules: Evictor['rules'];
  /** The paths of --policy. */
  readonly policies: readonly string[];
}

/** What was asked by an address; what is not in it is ''. */
export function whatIfOf(query: URLSearchParams): WhatIf {
  const given = (name: keyof WhatIf): string => query.get(name)?.trim() ?? '';
  return {
    event: given('event'),
    where: given('where'),
    taint: given('taint'),
    lasts: given('lasts'),
    until: given('until'),
    both: given('both'),
  };
}

/** The words after `kubectl taintmgr` that answer it. Throws UsageError. */
export function simulateArguments(question: WhatIf, asked: Asked): readonly string[] {
  const until = durationOf('until', question.until, 24 * hourMs);
  return [
    'simulate',
    ...['--event', eventOf(question, asked, until)],
    ...['--until', formatDuration(until)],
    ...asked.policies.flatMap((path) => ['--policy', path]),
    ...variantsOf(question, asked),
  ];
}

const minuteMs: Millis = 60_000;
const hourMs: Millis = 60 * minuteMs;
const upstream = 'kube-controller-manager';

function variantsOf({ both }: WhatIf, { rules }: Asked): readonly string[] {
  if (both !== '' && both !== 'on') throw wrong('both', both, 'on, or nothing');
  const isUpstream = rules === upstream;
  if (!isUpstream) return both === '' ? [] : ['--compare'];
  const ours = both === '' ? [] : ['--variant', 'taintmgr-controller=unchanged'];
  return ['--variant', `${upstream}=${upstream}`, ...ours];
}

/** Where it happens, as scripts name nodes. */
type Targets = Readonly<Record<string, string>>;

const actions: Readonly<Record<string, (targets: Targets, question: WhatIf) => object>> = {
  down: (targets) => ({ stopKubelet: targets }),
  'cut-off': (targets) => ({ loseNetwork: targets }),
  taint: (targets, question) => ({ taint: { ...targets, taint: taintOf(question) } }),
  drain: (targets) => ({ drain: targets }),
  restart: () => ({ restartController: {} }),
  failover: () => ({ failover: {} }),
};

/** `{at: 1m, stopKubelet: {zone: zone-b}, lasts: 10m}` */
function eventOf(question: WhatIf, asked: Asked, until: Millis): string {
  const known = whatIfEvents.find(({ name }) => name === question.event);
  const action = actions[question.event];
  if (!known || !action) {
    throw wrong(
      'event',
      question.event,
      `one of ${whatIfEvents.map(({ name }) => name).join(', ')}`,
    );
  }
  const targets = known.hasPlace ? targetsOf(question.where, asked) : {};
  const lasts =
    known.hasEnd && question.lasts !== ''
      ? { lasts: formatDuration(durationOf('lasts', question.lasts, until)) }
      : {};
  return yamlLineOf({ at: '1m', ...action(targets, question), ...lasts });
}

function taintOf({ taint }: WhatIf): string {
  try {
    return formatTaint(parseTaint(taint));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw wrong('taint', taint, 'key=value:NoExecute, :NoSchedule or :PreferNoSchedule');
  }
}

function targetsOf(where: string, { nodes }: Asked): Targets {
  const [, kind, name = ''] = /^(zone|node) +(\S+)$/.exec(where) ?? [];
  if (kind === 'node') {
    const names = nodes.map(({ node }) => node.name);
    if (!names.includes(name)) throw wrong('where', where, listed('node', name, names));
    return { node: name };
  }
  const zones = [...new Set(nodes.map(zoneOf))];
  if (kind !== 'zone' || !zones.includes(name)) {
    throw wrong('where', where, listed('zone', name, zones));
  }
  return { zone: name };
}

/** So many names are listed. */
const namesMax = 12;

function listed(kind: string, name: string, names: readonly string[]): string {
  const shown = names.slice(0, namesMax).map((one) => `${kind} ${one}`);
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : '';
  return `one of ${shown.join(', ')}${more}${didYouMean(name, names)}`;
}

function durationOf(field: 'lasts' | 'until', text: string, most: Millis): Millis {
  const millis = parseDuration(text);
  if (millis !== null && millis >= minuteMs && millis <= most) return millis;
  throw wrong(field, text, `a time from 1m to ${formatDuration(most)}`);
}

/** As the form calls its fields. */
const labels: Readonly<Record<keyof WhatIf, string>> = {
  event: 'what happens',
  where: 'zone or node',
  taint: 'taint',
  lasts: 'for',
  until: 'look ahead',
  both: 'compare',
};

function wrong(field: keyof WhatIf, value: string, want: string): UsageError {
  return new UsageError(`${labels[field]}: got ${JSON.stringify(value)}, want ${want}`);
}
