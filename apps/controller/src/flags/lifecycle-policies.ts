import type { LifecycleConfig } from '@taintmgr/core/lifecycle';
import type { ConfigFile } from './config-file.ts';
import { inMillis, type Written } from './durations.ts';

type Plain = Partial<
  Pick<
    LifecycleConfig,
    | 'enforcement'
    | 'podEvictionTimeoutMs'
    | 'zoneMembers'
    | 'fullDisruption'
    | 'podReadiness'
    | 'healthyMs'
  >
>;
type MassUnreachable = NonNullable<LifecycleConfig['massUnreachable']>;
type Flapping = NonNullable<LifecycleConfig['flapping']>;

/** `nodeLifecycle` as the schema describes it, without what is a setting with a flag. */
interface LifecycleFields extends Written<Plain> {
  readonly massUnreachable?: Written<MassUnreachable> | null;
  readonly flapping?: Written<Flapping>;
}

/** What only the configuration file can say about nodes; what it leaves out is left out here. */
export function lifecyclePolicies(file: ConfigFile): Partial<LifecycleConfig> {
  const fields: LifecycleFields = file.nodeLifecycle ?? {};
  const { massUnreachable, flapping, ...others } = fields;
  const { enforcement, podEvictionTimeout, zoneMembers, fullDisruption, podReadiness, healthy } =
    others;
  const plain = {
    enforcement,
    podEvictionTimeout,
    zoneMembers,
    fullDisruption,
    podReadiness,
    healthy,
  };
  return {
    ...inMillis<Plain>(plain),
    ...(massUnreachable !== undefined && {
      massUnreachable: massUnreachable && inMillis<MassUnreachable>(massUnreachable),
    }),
    ...(flapping && { flapping: inMillis<Flapping>(flapping) }),
  };
}
