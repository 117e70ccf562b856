// How metrics are described and made.
import type { Registry } from 'prom-client';

/** What every metric is made with. */
interface Common<L extends string = string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly L[];
  readonly registers: Registry[];
}

/** Makes the common part of metrics of one registry. */
export type Describe = <L extends string = never>(
  name: string,
  help: string,
  ...labelNames: readonly L[]
) => Common<L>;

/** Metrics of this registry. */
export function describing(registry: Registry): Describe {
  return (name, help, ...labelNames) => ({ name, help, labelNames, registers: [registry] });
}
