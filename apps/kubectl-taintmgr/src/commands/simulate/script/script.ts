// Reads a script: what happens when, with which controllers, and until when.
import { type Config, type LabelSelector, resolveConfig } from '@taintmgr/core';
import { type Flapping, resolveLifecycleConfig } from '@taintmgr/core/lifecycle';
import {
  type PressureConfig,
  type PressurePool,
  type PressureSettingsInput,
  resolvePressureConfig,
} from '@taintmgr/core/pressure';
import { formatDuration, type Instant, type Millis } from '@taintmgr/core/time';
import {
  modeWords,
  pressureRulesOf,
  pressureRulesWords,
  pressureSemanticsOf,
  rulesOf,
  rulesWords,
  semanticsOf,
  spelled,
} from '@taintmgr/k8s-adapter/command-line';
import {
  FaultyFile,
  type Field,
  FileFault,
  type PlacedPolicy,
  policiesOf,
  readPositioned,
} from '@taintmgr/k8s-adapter/manifests';
import { keyOf } from '../source/source.ts';
import { type NodePool, readPool } from '../stage/autoscaler.ts';
import { type ManagerSettings, readManagerFlags } from '../stage/manager-flags.ts';
import { rangeOf, type SaidTimes } from '../times/pod-times.ts';
import { actions, required, type ScriptAction } from './actions.ts';

/** One event of a script. Times are in milliseconds after the beginning. */
export interface ScriptEvent {
  readonly field: Field;
  readonly at: Millis;
  readonly action: ScriptAction;
  /** The event is undone after this time; null: never. */
  readonly lasts: Millis | null;
  /** Between one of its nodes and the next. */
  readonly stagger: Millis;
}

/** The script of a simulation: its events, and the configuration of the controller. */
export interface Script {
  readonly events: readonly ScriptEvent[];
  /** As the library takes it. */
  readonly engine: Partial<Config>;
  /** Flags of kube-controller-manager, where that is played. */
  readonly manager: Partial<ManagerSettings>;
  /** The same of the node pressure agent; null: there is none. */
  readonly pressure: Partial<PressureConfig> | null;
  /** Its policies, taint rules and pauses, of which those hold from `startsAt` that do not say since when. */
  readonly policies: (startsAt: Instant) => readonly PlacedPolicy[];
  /** The time that pods of workloads such as `shop/web` take to start and to stop. */
  readonly times: ReadonlyMap<string, ScriptTimes>;
  /** The nodes that an autoscaler adds. */
  readonly autoscaler: readonly NodePool[];
  /** The current spellings of words that are given in an earlier spelling. */
  readonly hints: readonly string[];
}

/** The same of one workload, and where it stands. */
interface ScriptTimes extends SaidTimes {
  readonly field: Field;
}

export const emptyScript: Script = {
  events: [],
  engine: {},
  manager: {},
  pressure: null,
  policies: () => [],
  times: new Map(),
  autoscaler: [],
  hints: [],
};

const timing = ['at', 'lasts', 'stagger', 'every', 'times'];
const actionNames = Object.keys(actions);
const timesMax = 10_000;

/** Reads a script; `until` is when the simulation ends. Throws FaultyFile with all faults. */
export function readScript(file: string, text: string, until: Millis): Script {
  const root = readPositioned(file, text, 'a script with events');
  const faults: string[] = [];
  const events: ScriptEvent[] = [];
  const times = new Map<string, ScriptTimes>();
  const autoscaler: NodePool[] = [];
  const hints: string[] = [];
  let manifests: readonly Field[] = [];
  let { engine, manager, pressure } = emptyScript;
  attempt(faults, () => {
    if (Array.isArray(root.value)) throw root.fault('want the list under events:');
    const members = root.members([
      'apiVersion',
      'kind',
      'engine',
      'kubeControllerManager',
      'pressure',
      'policies',
      'times',
      'autoscaler',
      'events',
    ]);
    manifests = members.get('policies')?.items() ?? [];
    attempt(faults, () => policiesOf(manifests, 0));
    const [own, agent] = [members.get('engine'), members.get('pressure')];
    if (own) {
      attempt(faults, () => (engine = readConfig(own, engineKind, hints)));
    }
    const flags = members.get('kubeControllerManager');
    if (flags) attempt(faults, () => (manager = readManagerFlags(flags)));
    if (agent) {
      attempt(faults, () => (pressure = readConfig(agent, pressureKind, hints)));
    }
    for (const field of members.get('times')?.items() ?? []) {
      attempt(faults, () => readTimes(field, times));
    }
    for (const field of members.get('autoscaler')?.items() ?? []) {
      attempt(faults, () => autoscaler.push(readPool(field)));
    }
    for (const field of members.get('events')?.items() ?? []) {
      attempt(faults, () => events.push(...readEventField(field, until)));
    }
    if (!members.has('events')) throw root.fault('events is missing');
  });
  if (!pressure) {
    const idle = events.filter(({ action }) => action.needsPressure);
    for (const { field } of idle) faults.push(field.fault(nobodyActs).message);
  }
  if (faults.length > 0) throw new FaultyFile(faults);
  const policies = (startsAt: Instant) => policiesOf(manifests, startsAt);
  return { events, engine, manager, pressure, policies, times, autoscaler, hints };
}

/** Reads the parts of one event outside of a script: it may be repeated. Throws FaultyFile. */
export function readEvents(file: string, text: string, until: Millis): readonly ScriptEvent[] {
  const faults: string[] = [];
  const events: ScriptEvent[] = [];
  attempt(faults, () =>
    events.push(...readEventField(readPositioned(file, text, 'an event of a script'), until)),
  );
  const idle = events.filter(({ action }) => action.needsPressure);
  for (const { field } of idle) faults.push(field.fault(nobodyActs).message);
  if (faults.length > 0) throw new FaultyFile(faults);
  return events;
}

/** Reads the time that the pods of one workload take. */
function readTimes(field: Field, times: Map<string, ScriptTimes>): void {
  const members = field.members(['workload', 'start', 'stop']);
  const [namespace, name] = keyOf(required(field, members, 'workload'));
  const [start, stop] = ['start', 'stop'].map((what) => {
    const member = members.get(what);
    return member ? rangeOf(member) : null;
  });
  if (!start && !stop) throw field.fault('want start, stop or both');
  const key = `${namespace}/${name}`;
  if (times.has(key)) throw field.fault(`times of ${key} are said already`);
  times.set(key, { field, start: start ?? null, stop: stop ?? null });
}

/** Lets a part of a file be wrong without the rest going unread. */
export function attempt(faults: string[], read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (error instanceof FaultyFile) faults.push(...error.faults);
    else if (error instanceof FileFault) faults.push(error.message);
    else throw error;
  }
}

const nobodyActs =
  'no controller acts on it: add pressure, with thresholds such as settings.evictionHard';

function resolveWithLifecycle(options: Partial<Config>): Config {
  return resolveConfig({ lifecycle: {}, ...options });
}

/** The configuration of one program. */
interface ConfigKind<T> {
  readonly check: Check;
  /** The members whose values have words here, and how each is read. */
  readonly worded: Readonly<Partial<Record<keyof T, WordReader>>>;
  /** A fault of the library, in the words that are used here. */
  readonly inWords: (fault: string) => string;
  readonly resolve: (options: Partial<T>) => T;
}

/** The library's value of a word, and the hint at its spelling. Throws FileFault. */
type WordReader = (field: Field) => { readonly value: string; readonly hint: string | null };

function wordReader<const T extends string>(
  words: readonly T[],
  meaning: (word: T) => string,
): WordReader {
  return (field) => {
    const { word, hint = null } = spelled(String(field.value), words) ?? {};
    if (word !== undefined) return { value: meaning(word), hint };
    throw field.fault(`got ${JSON.stringify(field.value)}, want ${words.join(' or ')}`);
  };
}

/** A configuration as the library takes it, whose faults get their places. */
function readConfig<T extends object>(
  field: Field,
  { check, worded, inWords, resolve }: ConfigKind<T>,
  hints: string[],
): Partial<T> {
  check(field);
  // The members were checked; their values are for the library to refuse.
  const options = { ...(field.value as Partial<T>) };
  for (const [name, read] of Object.entries<WordReader | undefined>(worded)) {
    const member = field.find([name]);
    if (!member || !read) continue;
    const { value, hint } = read(member);
    if (hint !== null) hints.push(`${member.place}: ${member.path}: ${hint}`);
    Object.assign(options, { [name]: value });
  }
  try {
    resolve(options);
    return options;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const [, path = '', text = error.message] =
      /^config\.(?:pressure\.)?([^:]+): (.*)$/s.exec(error.message) ?? [];
    throw field.at(stepsOf(path)).faultBelow(`${field.path}.${path}`, inWords(text));
  }
}

/** `limits[0].per` as the steps that lead there. */
export function stepsOf(path: string): readonly (string | number)[] {
  return (path.match(/[^.[\]]+/g) ?? []).map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

/** One event, or each time that a repeated one comes. */
export function readEventField(field: Field, until: Millis): readonly ScriptEvent[] {
  const members = field.members([...timing, ...actionNames]);
  const at = members.get('at');
  if (!at) throw field.fault('at is missing');
  const first = at.duration();
  if (first >= until)
    throw at.fault(
      `got ${formatDuration(first)}, want less than ${formatDuration(until)}, the end of the simulation; --until sets the end`,
    );
  const action = readAction(field, members);
  const lastsField = members.get('lasts');
  const lasts = lastsField?.duration() ?? action.lastsUsual ?? null;
  if (lasts !== null && !action.undo) throw lastsField?.fault('what this event does has no end');
  const stagger = members.get('stagger')?.duration() ?? 0;
  const times = members.get('times')?.wholeNumber(1) ?? 1;
  const every = members.get('every')?.duration() ?? null;
  if (times > timesMax) throw members.get('times')?.fault(`want at most ${timesMax}`);
  if ((every === null) !== (times === 1)) throw field.fault('every and times go together');
  return Array.from({ length: times }, (_, index) => {
    return { field, at: first + index * (every ?? 0), action, lasts, stagger };
  }).filter((event) => event.at < until);
}

function readAction(field: Field, members: ReadonlyMap<string, Field>): ScriptAction {
  const given = actionNames.filter((name) => members.has(name));
  const [name = ''] = given;
  const [action, body] = [actions[name], members.get(name)];
  if (!action || !body || given.length > 1) {
    const got = given.join(', ') || 'none';
    throw field.fault(`want one of ${actionNames.join(', ')}; got ${got}`);
  }
  if (name === 'apiOutage' && !members.has('lasts')) throw field.fault('lasts is missing');
  return action.read(body, action.fields.length === 0 ? new Map() : body.members(action.fields));
}

// The members that the configurations in a script may have, by kind. Numbers and words it checks itself.

/** Throws FileFault for a value of another kind. */
type Check = (field: Field) => unknown;

/** The members that manifests say instead, or that are for programs alone. */
const saidElsewhere: readonly string[] = [
  'limits',
  'conditionRules',
  'retiredRules',
  'drainProgram',
];

/** The members of an object; the compiler sees to it that none is forgotten. */
type Members<T> = { readonly [Name in keyof Required<T>]: Check };

const where = 'under policies of the script, or in a file of --policy';

/** Fields of earlier versions, with their current names. */
const renamed: ReadonlyMap<string, string> = new Map([
  ['settleMs', 'minTaintAgeMs'],
  ['massSilence', 'massUnreachable'],
  ['deadZone', 'fullDisruption'],
  [
    'policies',
    `an EvictionPolicy ${where}: key, value and effect are in spec.match.taints, mode is ` +
      'spec.action (Delete, Evict, EvictThenDelete), the others are in spec',
  ],
  [
    'limits',
    `an EvictionPolicy ${where}: they are its spec.limits, with per Zone for zone, ` +
      'window for windowMs, onLimit Queue or Trip, and nodeSelector for nodes',
  ],
  [
    'conditionRules',
    `a NodeTaintRule ${where}: condition is spec.condition.type, status spec.condition.status, ` +
      'holdsMs and clearMs spec.holds and spec.clear, nodes spec.nodeSelector, nodesMax spec.maxNodes',
  ],
]);

const checked: Check = () => undefined;
const text: Check = (field) => field.text();
const truth: Check = (field) => field.truth();

function listOf(item: Check): Check {
  return (field) => {
    for (const each of field.items()) item(each);
  };
}

/** An object with members of any names. */
function tableOf(value: Check): Check {
  return (field) => {
    for (const each of field.entries().values()) value(each);
  };
}

function objectOf<T>(members: Members<T>, required: readonly (keyof T)[] = []): Check {
  const checks = new Map<string, Check>(Object.entries(members));
  return (field) => {
    const given = field.members([...checks.keys()], renamed);
    const missing = required.find((name) => !given.has(String(name)));
    if (missing !== undefined) throw field.fault(`${String(missing)} is missing`);
    for (const [name, each] of given) checks.get(name)?.(each);
  };
}

function orNull(check: Check): Check {
  return (field) => (field.value === null ? undefined : check(field));
}

const selector = objectOf<LabelSelector>({
  matchLabels: tableOf(text),
  matchExpressions: listOf(
    objectOf({ key: text, operator: text, values: listOf(text) }, ['key', 'operator']),
  ),
});

const ownPod = orNull(objectOf<NonNullable<Config['ownPod']>>({ namespace: text, name: text }));

/** The members that a configuration has once it is resolved; of what kind they are its values say, or `own`. */
function shapeOf<T extends object>(resolved: T, own: Partial<Members<T>>): Check {
  const entries = Object.entries(resolved).filter(([name]) => !saidElsewhere.includes(name));
  const checks = entries.map(([name, value]) => {
    return [name, own[name as keyof T] ?? (typeof value === 'boolean' ? truth : checked)] as const;
  });
  return objectOf<object>(Object.fromEntries(checks));
}

const lifecycleUsual = resolveLifecycleConfig({});

const lifecycle = shapeOf(lifecycleUsual, {
  zoneMembers: selector,
  massUnreachable: orNull(shapeOf(lifecycleUsual.massUnreachable ?? {}, {})),
  flapping: orNull(objectOf<Flapping>({ times: checked, withinMs: checked, healthyMs: checked })),
});

const engineUsual = resolveConfig({});

/** The options of the engine. */
const engineShape = shapeOf(engineUsual, {
  lifecycle: orNull(lifecycle),
  leave: shapeOf(engineUsual.leave, {}),
  ownPod,
});

const settings = objectOf<PressureSettingsInput>({
  evictionHard: tableOf(text),
  evictionSoft: tableOf(text),
  evictionSoftGracePeriod: tableOf(text),
  evictionMinimumReclaim: tableOf(text),
  evictionPressureTransitionPeriod: text,
  evictionMaxPodGracePeriod: checked,
  mergeDefaultEvictionSettings: truth,
  localStorageCapacityIsolation: truth,
  enforceNodeAllocatable: listOf(text),
  filesystemLayout: checked,
  nodeReclaim: truth,
});

/** The options of the node pressure agent. */
const pressureShape = shapeOf(resolvePressureConfig({}), {
  pools: listOf(
    objectOf<PressurePool>({ name: text, selector, settings }, ['name', 'selector', 'settings']),
  ),
  settings: orNull(settings),
  ownPod,
});

const engineKind: ConfigKind<Config> = {
  check: engineShape,
  worded: {
    mode: wordReader(modeWords, (word) => word),
    semantics: wordReader(rulesWords, semanticsOf),
  },
  inWords: (fault) =>
    fault
      .replaceAll('precise', rulesOf('precise'))
      .replaceAll('upstream-1.36', rulesOf('upstream-1.36')),
  resolve: resolveWithLifecycle,
};

const pressureKind: ConfigKind<PressureConfig> = {
  check: pressureShape,
  worded: { semantics: wordReader(pressureRulesWords, pressureSemanticsOf) },
  inWords: (fault) => fault.replaceAll('precise', pressureRulesOf('precise')),
  resolve: resolvePressureConfig,
};
