import type { Draw } from './draw.ts';
import type { Actions } from './script.ts';
import type { Story } from './story.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** What may happen to the clocks of the machines that controllers run on. */
export const clockActions: Actions = [
  [6, setClock],
  [4, suspend],
  [4, standStill],
];

export function setClock({ controllers }: Story, draw: Draw): string {
  const by = draw.weighted([
    [3, draw.of([-10 * minute, -second, second, hour])],
    [1, draw.of([-24 * hour, -hour, -15 * second, 15 * second, 10 * minute, 24 * hour])],
    [1, draw.between(-30 * second, 30 * second)],
  ]);
  draw.of(controllers).setClock(by);
  return `the clock of a controller is set by ${by / second} s`;
}

/** Its machine is suspended; what makes a controller go on makes its machine go on. */
function suspend({ controllers }: Story, draw: Draw): string {
  const controller = draw.of(controllers);
  if (controller.state !== 'running') return 'nothing to suspend';
  controller.suspend();
  return 'the machine of a controller is suspended';
}

/** For longer than a lease lasts, so that another leads meanwhile; or for less. */
function standStill({ stage, controllers }: Story, draw: Draw): string {
  const controller = draw.of(controllers);
  if (controller.state !== 'running') return 'nothing to stand still';
  const [counts, timersFirst] = [draw.chance(0.5), draw.chance(0.5)];
  const ms = draw.of([400, 5 * second, 9 * second, 12 * second, 20 * second, 20 * second, minute]);
  if (counts) controller.freeze();
  else controller.suspend();
  stage.passUntil(stage.now() + ms);
  controller.thaw(timersFirst);
  return `a controller stood still for ${ms / second} s${counts ? '' : ', as did its clock'}`;
}
