import { readFileSync } from 'node:fs';
import { type Config, type LimitRule, type Policy, parseDuration } from '@taintmgr/core';
import { Ajv, type ErrorObject } from 'ajv';
import { parseDocument } from 'yaml';
import schema from '../config.schema.json' with { type: 'json' };

/** A configuration file that cannot be used: one line naming file, field, value and what is allowed. */
export class ConfigFileError extends Error {
  override readonly name = 'ConfigFileError';
}

interface PolicyFields {
  readonly mode?: Policy['mode'];
  readonly deleteAfter?: string;
  readonly gracePeriodSeconds?: number;
  readonly settle?: string;
}

/** The file as the schema describes it. */
interface ConfigFile {
  readonly eviction?: PolicyFields & {
    readonly semantics?: Config['semantics'];
    readonly concurrentEvictions?: number;
    readonly policies?: readonly (PolicyFields & {
      readonly key?: string;
      readonly value?: string;
      readonly effect?: string;
    })[];
    readonly leave?: Partial<Config['leave']>;
    readonly limits?: readonly LimitRule[];
  };
}

/**
 * Reads a configuration file, YAML or JSON, and checks it against config.schema.json. What it leaves
 * out is left out here. Throws ConfigFileError.
 */
export function readConfigFile(file: string): Partial<Config> {
  return engineConfig(parse(file, read(file)));
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

function parse(file: string, text: string): ConfigFile {
  const document = parseDocument(text);
  const [fault] = document.errors;
  if (fault) {
    const [line = ''] = fault.message.split('\n');
    throw new ConfigFileError(`--config ${file}: ${line.replace(/:$/, '')}`);
  }
  const value: unknown = document.toJS();
  const validate = new Ajv({ verbose: true }).compile<ConfigFile>(schema);
  if (validate(value)) return value;
  const [error] = validate.errors ?? [];
  throw new ConfigFileError(`--config ${file}: ${error ? describe(error) : 'not valid'}`);
}

/** `eviction.policies[0].mode: got "drop", want delete, evict or evictThenDelete` */
function describe(error: ErrorObject): string {
  const field = fieldOf(error.instancePath) || 'the file';
  const got = JSON.stringify(error.data);
  switch (error.keyword) {
    case 'enum':
      return `${field}: got ${got}, want ${error.params.allowedValues.join(', ')}`;
    case 'additionalProperties':
      return `${field}: unknown field "${error.params.additionalProperty}"`;
    case 'required':
      return `${field}: the field "${error.params.missingProperty}" is missing`;
    case 'pattern':
      return `${field}: got ${got}, want a duration such as 30s, 10m or 1h30m`;
    default:
      return `${field}: got ${got}, which ${error.message}`;
  }
}

function fieldOf(pointer: string): string {
  const path = pointer.replace(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.');
  return path.replace(/^\./, '');
}

function engineConfig({ eviction = {} }: ConfigFile): Partial<Config> {
  const { semantics, concurrentEvictions, policies, leave, limits, ...defaults } = eviction;
  const none = { finishedPods: false, returningDaemonSetPods: false, optedOutPods: false };
  return {
    ...policyOf(defaults),
    ...(semantics && { semantics }),
    ...(concurrentEvictions !== undefined && { evictionsInFlightMax: concurrentEvictions }),
    ...(policies && {
      policies: policies.map(({ key, value, effect, ...policy }) => ({
        ...(key !== undefined && { key }),
        ...(value !== undefined && { value }),
        ...(effect !== undefined && { effect }),
        ...policyOf(policy),
      })),
    }),
    ...(leave && { leave: { ...none, ...leave } }),
    ...(limits && { limits }),
  };
}

function policyOf({
  mode,
  deleteAfter,
  gracePeriodSeconds,
  settle,
}: PolicyFields): Partial<Policy> {
  return {
    ...(mode && { mode }),
    ...(deleteAfter !== undefined && { deleteAfterMs: millisOf(deleteAfter) }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(settle !== undefined && { settleMs: millisOf(settle) }),
  };
}

/** The schema has seen to the form. */
function millisOf(duration: string): number {
  return Math.round(parseDuration(duration) ?? 0);
}
