// The request of taint-device as its command line makes it.
import { randomBytes } from 'node:crypto';
import { parseTaint } from '@taintmgr/core';
import type { DeviceSelector } from '@taintmgr/core/devices';
import { formatTime } from '@taintmgr/core/time';
import { UsageError } from '@taintmgr/k8s-adapter/command-line';
import { isObjectName } from '../../cli/values.ts';
import { ruleMark, ruleNameIn } from '../../cluster/device-rules.ts';
import type { TaintDeviceFlags } from './flags.ts';

/** A new rule, or one that is there. */
export type TaintRequest =
  | {
      readonly kind: 'new';
      readonly name: string;
      readonly selector: DeviceSelector;
      readonly taint: { readonly key: string; readonly value: string };
      /** None: the rule stays a preview. */
      readonly effect: 'NoExecute' | 'None';
    }
  | { readonly kind: 'rule'; readonly name: string; readonly effect: 'NoExecute' };

type RequestFlags = Pick<TaintDeviceFlags, 'allDevices' | 'name' | 'snooze'>;

/** Reads the arguments. Throws UsageError, and RangeError for a taint that is none. */
export function readRequest(
  target: string,
  taint: string | undefined,
  flags: RequestFlags,
): TaintRequest {
  const rule = ruleNameIn(target);
  if (rule !== null) return existing(rule, taint, flags);
  if (flags.allDevices) {
    if (taint !== undefined) {
      throw new UsageError(`--all-devices and ${target} exclude each other: give the taint alone`);
    }
    return newRule({ driver: null, pool: null, device: null }, target, flags);
  }
  const isTaint = /[:=]/.test(target);
  if (isTaint) {
    throw new UsageError(
      `${target} is a taint; name DRIVER, DRIVER/POOL or DRIVER/POOL/DEVICE before it, or add --all-devices`,
    );
  }
  if (taint === undefined) {
    throw new UsageError(`name a taint after ${target}, such as health=bad:NoExecute`);
  }
  return newRule(readSelector(target), taint, flags);
}

function existing(name: string, taint: string | undefined, flags: RequestFlags): TaintRequest {
  if (!isObjectName(name)) throw new UsageError(`devicetaintrule/${name}: want the name of a rule`);
  const given = [
    ...(taint === undefined ? [] : [taint]),
    ...(flags.name === undefined ? [] : ['--name']),
  ];
  if (given.length > 0) {
    throw new UsageError(
      `devicetaintrule/${name} and ${given.join(', ')} exclude each other: the rule says it`,
    );
  }
  return { kind: 'rule', name, effect: 'NoExecute' };
}

function newRule(selector: DeviceSelector, text: string, flags: RequestFlags): TaintRequest {
  if (text.endsWith('-')) {
    throw new UsageError(
      `${text}: to take a taint back, name its rule: kubectl taintmgr undo devicetaintrule/NAME`,
    );
  }
  const isPreview = text.endsWith(':None');
  const { key, value, effect } = parseTaint(isPreview ? text.replace(/None$/, 'NoExecute') : text);
  if (effect !== 'NoExecute') {
    throw new UsageError(
      `${text}: want the effect NoExecute, or None for a preview; for ${effect} no pod leaves`,
    );
  }
  if (isPreview && flags.snooze !== undefined) {
    throw new UsageError(`--snooze and ${text} exclude each other: for None no pod leaves`);
  }
  const name = flags.name ?? newName();
  return {
    kind: 'new',
    name,
    selector,
    taint: { key, value },
    effect: isPreview ? 'None' : effect,
  };
}

/** As those of drains. */
function newName(): string {
  const [date = '', time = ''] = formatTime(Date.now()).replace(/[-:Z]/g, '').split('T');
  return `taint-${date}-${time}-${randomBytes(2).toString('hex')}`;
}

/** A pool may have slashes in its name; the others have none. */
function readSelector(text: string): DeviceSelector {
  const [driver = '', ...rest] = text.split('/');
  const isPool = rest.at(-1) === '';
  const names = isPool ? rest.slice(0, -1) : rest;
  const device = isPool || names.length < 2 ? null : (names.at(-1) ?? null);
  const pool = (device === null ? names : names.slice(0, -1)).join('/');
  const parts = [driver, ...names];
  if (parts.every(isObjectName) && !(isPool && pool === '')) {
    return { driver, pool: pool === '' ? null : pool, device };
  }
  throw new UsageError(
    `got ${JSON.stringify(text)}, want DRIVER, DRIVER/POOL or DRIVER/POOL/DEVICE, such as gpu.example.com/node-1/gpu-0`,
  );
}

/** The rule for the API server. */
export function manifestOf(
  { name, selector, taint }: Extract<TaintRequest, { kind: 'new' }>,
  apiVersion: string,
  effect: 'NoExecute' | 'None',
): object {
  const parts = Object.entries(selector).filter(([, part]) => part !== null);
  return {
    apiVersion,
    kind: 'DeviceTaintRule',
    metadata: { name, annotations: { [ruleMark]: 'made' } },
    spec: {
      deviceSelector: Object.fromEntries(parts),
      taint: { key: taint.key, ...(taint.value !== '' && { value: taint.value }), effect },
    },
  };
}
