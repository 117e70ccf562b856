import type { Kind } from './kind.ts';

/** What a setting is, wherever it is made: flag, variable or configuration file. */
export interface Setting<T> {
  /** Long name without dashes, kube-controller-manager's where it has one. */
  readonly flag: string;
  /** Path in the configuration file, `serving.securePort`; null: not there. */
  readonly field: string | null;
  readonly kind: Kind<T>;
  readonly initial: T;
  readonly description: string;
}

/** The values of a group, by the names of its settings. */
export type Values<G> = {
  readonly [Name in keyof G]: G[Name] extends Setting<infer T> ? T : never;
};

/** A setting that may be in the configuration file too. */
export function setting<T>(
  flag: string,
  field: string | null,
  kind: Kind<T>,
  initial: NoInfer<T>,
  description: string,
): Setting<T> {
  return { flag, field, kind, initial, description };
}

/**
 * Makes settings whose fields are named as their flags are, in one section of the configuration file:
 * `serving.bindAddress` for `bind-address`. A prefix that the flags share is left out.
 */
export function section(
  name: string,
  prefix = '',
): <T>(flag: string, kind: Kind<T>, initial: NoInfer<T>, description: string) => Setting<T> {
  return (flag, kind, initial, description) => {
    const short = flag.startsWith(prefix) ? flag.slice(prefix.length) : flag;
    const field = short.replace(/-./g, (part) => part.slice(1).toUpperCase());
    return setting(flag, `${name}.${field}`, kind, initial, description);
  };
}

/** The environment variable of a flag: `TAINTMGR_KUBE_API_QPS` for `kube-api-qps`. */
export function variableOf(flag: string): string {
  return `TAINTMGR_${flag.toUpperCase().replaceAll('-', '_')}`;
}
