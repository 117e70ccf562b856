// Every named difference between the precise semantics and upstream.

export {
  classify,
  type Difference,
  type DifferenceName,
  evictionDifferences,
} from '../differences/eviction.ts';
export { lifecycleDifferences } from '../differences/lifecycle.ts';
export { pressureDifferences } from '../differences/pressure.ts';
export { processDifferences } from '../differences/process.ts';
export type { Comparison } from '../differences/simulated-upstream.ts';
