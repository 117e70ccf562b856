// The settings that a taintmgr-controller publishes, as an engine takes them that answers in its place.

import type { LifecycleConfig } from '@taintmgr/core/lifecycle';
import { type Config, resolveConfig } from '@taintmgr/core/model';
import { declaringFlag } from './installation.ts';
import { type Chosen, settingReaders } from './setting-readers.ts';

/** What published settings come to. */
export interface ReadSettings {
  readonly engine: NonNullable<Chosen['engine']>;
  readonly lifecycle: Partial<LifecycleConfig>;
  /** Whether policies and pauses of the cluster count. */
  readonly followsCluster: boolean;
  /** Those that could not be used, as `name=value`. */
  readonly unusable: readonly string[];
}

const defaultSettings: ReadSettings = {
  engine: {},
  lifecycle: {},
  followsCluster: true,
  unusable: [],
};

/** Reads them by their names; those that change no prediction are left out. Never throws. */
export function readSettings(settings: Readonly<Record<string, string>>): ReadSettings {
  // Whose rules hold decides what else is allowed.
  const names = Object.keys(settings).sort((a, b) => rankOf(a) - rankOf(b));
  const unusable: string[] = [];
  let read = defaultSettings;
  for (const name of names) {
    const value = settings[name] ?? '';
    const after = withSetting(read, name, value);
    if (after === null) unusable.push(`${name}=${value}`);
    else read = after;
  }
  const isUpstream = read.engine.semantics === 'upstream-1.36';
  return { ...read, unusable, followsCluster: read.followsCluster && !isUpstream };
}

function rankOf(name: string): number {
  return name === 'semantics' ? 0 : 1;
}

/** Null: this one cannot be used. */
function withSetting(before: ReadSettings, name: string, value: string): ReadSettings | null {
  if (isWithoutEffect(name)) return before;
  const chosen = settingReaders.get(name)?.(value) ?? null;
  if (!chosen) return null;
  const engine = { ...before.engine, ...chosen.engine };
  const lifecycle = { ...before.lifecycle, ...chosen.lifecycle };
  if (!isAllowed({ ...engine, lifecycle })) return null;
  return {
    ...before,
    engine,
    lifecycle,
    followsCluster: chosen.followsCluster ?? before.followsCluster,
  };
}

function isAllowed(config: Partial<Config>): boolean {
  try {
    resolveConfig(config);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** How it is run, and how fast: nothing that a prediction goes by. */
function isWithoutEffect(name: string): boolean {
  return withoutEffect.has(name) || prefixesWithoutEffect.test(name);
}

const prefixesWithoutEffect = /^(leader-elect|kube-api-|node-pressure-|summary-|eviction-)/;
const withoutEffect: ReadonlySet<string> = new Set([
  ...['allow-overlap', 'concurrent-evictions', 'controllers', 'kubelet-certificate-authority'],
  ...['dry-run', 'pod-watch', 'publish-status', declaringFlag],
]);
