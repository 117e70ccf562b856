import { readFileSync } from 'node:fs';
import { spelled } from '@taintmgr/k8s-adapter/command-line';
import { FaultyFile, type Field, readAllPositioned } from '@taintmgr/k8s-adapter/manifests';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import schema from '../../config.schema.json' with { type: 'json' };

/** A configuration file that cannot be used: one line naming file, field, value and the allowed values. */
export class ConfigFileError extends Error {
  override readonly name = 'ConfigFileError';
}

/** The configuration file, checked against config.schema.json. */
export interface ConfigFile {
  readonly [field: string]: unknown;
}

/** The schema as a function, which takes longer to make than a file to check; null until one is read. */
let compiled: ValidateFunction<ConfigFile> | null = null;

/**
 * Reads a configuration file, YAML or JSON, and checks it against config.schema.json. Words in an earlier spelling
 * are taken, and hints at the spelling added. Throws ConfigFileError.
 */
export function readConfigFile(file: string, hints: string[] = []): ConfigFile {
  const root = readRoot(file);
  const value = root?.value ?? null;
  compiled ??= new Ajv({ verbose: true, allowUnionTypes: true }).compile<ConfigFile>(schema);
  const validate = compiled;
  for (;;) {
    if (validate(value)) return value;
    const hint = respell(value, validate.errors?.[0]);
    if (hint === null) break;
    hints.push(`--config ${file}: ${hint}`);
  }
  const [error] = validate.errors ?? [];
  const fault = error ? describe(error) : 'not valid';
  const hint = (error && root?.at(stepsOf(error.instancePath)).hint(hintedBy(error))) || '';
  throw new ConfigFileError(`--config ${file}: ${fault}${hint === '' ? '' : ` (${hint})`}`);
}

/** Writes an allowed word in the place of its earlier spelling; the hint at it, null: there is none. */
function respell(root: unknown, error: ErrorObject | undefined): string | null {
  const { keyword, instancePath = '', data, params } = error ?? {};
  if (keyword !== 'enum' || typeof data !== 'string' || instancePath === '/kind') return null;
  const { word, hint = null } = spelled(data, params?.allowedValues) ?? {};
  const steps = stepsOf(instancePath);
  const parent = steps.slice(0, -1).reduce<unknown>(valueAt, root);
  const isSet = parent instanceof Object && Reflect.set(parent, steps.at(-1) ?? '', word);
  return isSet && hint !== null ? `${nameOf(instancePath)}: ${hint}` : null;
}

function valueAt(value: unknown, name: string | number): unknown {
  return value instanceof Object ? Reflect.get(value, name) : undefined;
}

/** Null: the file is empty. */
function readRoot(file: string): Field | null {
  try {
    const [root = null, another] = readAllPositioned(file, read(file));
    if (another) throw new ConfigFileError(`--config ${another.place}: want one document`);
    return root;
  } catch (error) {
    if (!(error instanceof FaultyFile)) throw error;
    throw new ConfigFileError(`--config ${error.faults[0]}`);
  }
}

/** `/a/0/b` as the steps that lead there. */
function stepsOf(pointer: string): readonly (string | number)[] {
  const steps = pointer.split('/').slice(1);
  return steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

/** Names the faults that a text in quotes would mend. */
function hintedBy({ keyword, schema: want }: ErrorObject): string {
  return keyword === 'type' && want === 'string' ? 'of type string' : '';
}

/** The value in the file at a path such as `serving.securePort`; undefined: nothing. */
export function fieldAt(file: ConfigFile, path: string): unknown {
  return path.split('.').reduce<unknown>(valueAt, file);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'no such file' : code;
    throw new ConfigFileError(`--config ${file}: ${why}`);
  }
}

/** The meaning of the patterns of the schema. */
const patternTexts: Readonly<Record<string, string>> = {
  [schema.definitions.duration.pattern]: 'a duration such as 30s, 10m or 1h30m',
  [schema.definitions.durationOrNever.pattern]: 'a duration such as 30s, 10m or 1h30m, or never',
};

/** `eviction.policies[0].mode: got "drop", want delete, evict or evict-then-delete` */
function describe(error: ErrorObject): string {
  const field = nameOf(error.instancePath) || 'the file';
  const got = JSON.stringify(error.data);
  switch (error.keyword) {
    case 'enum':
      return `${field}: got ${got}, want ${error.params.allowedValues.join(', ')}`;
    case 'additionalProperties':
      return `${field}: ${unknown(error)}`;
    case 'required':
      return `${field}: the field "${error.params.missingProperty}" is missing`;
    case 'pattern':
      return `${field}: got ${got}, want ${patternTexts[String(error.schema)] ?? error.schema}`;
    default:
      return `${field}: got ${got}, which ${error.message}`;
  }
}

/** Fields of earlier versions, with their current names. */
const renamed: ReadonlyMap<unknown, string> = new Map([
  [
    'policies',
    'an EvictionPolicy in a file of --policy: key, value and effect are in spec.match.taints, ' +
      'mode is spec.action (Delete, Evict, EvictThenDelete), the others are in spec',
  ],
  [
    'limits',
    'an EvictionPolicy in a file of --policy: they are its spec.limits, with per Zone for zone, ' +
      'onLimit Queue or Trip, and nodeSelector for nodes',
  ],
  [
    'conditionRules',
    'a NodeTaintRule in a file of --policy: condition is spec.condition.type, status ' +
      'spec.condition.status, nodes spec.nodeSelector, nodesMax spec.maxNodes, the others in spec',
  ],
  ['settle', 'minTaintAge'],
  ['massSilence', 'massUnreachable'],
  ['deadZone', 'fullDisruption'],
]);

function unknown({ params, parentSchema }: ErrorObject): string {
  const now = renamed.get(params.additionalProperty);
  const want = now ?? Object.keys(parentSchema?.properties ?? {}).join(', ');
  return `got the unknown field "${params.additionalProperty}", want ${want}`;
}

function nameOf(pointer: string): string {
  const path = pointer.replace(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.');
  return path.replace(/^\./, '');
}
