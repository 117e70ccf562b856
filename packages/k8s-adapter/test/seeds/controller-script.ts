import type { PauseScope } from '@taintmgr/oracle';
import type { Draw } from './draw.ts';
import type { Actions } from './script.ts';
import type { Story } from './story.ts';

/** What may happen to controllers and to what lies between them and the cluster, but for pauses. */
export const processActions: Actions = [
  [7, (story) => story.troubles.begin()],
  [3, restart],
  [2, stop],
  [3, freeze],
  [1, (story, draw) => story.rest(draw)],
];

/** The same with pauses that everybody hears of. */
export const controllerActions: Actions = [
  ...processActions.slice(0, -1),
  [1, pauseDeadlines],
  [2, resumeDeadlines],
  ...processActions.slice(-1),
];

function restart({ stage, controllers }: Story, draw: Draw): string {
  const controller = draw.of(controllers);
  const { state } = controller;
  if (state !== 'down') controller.crash();
  stage.start(controller);
  return state === 'down' ? 'a controller starts' : 'a controller crashes and starts again';
}

function stop(story: Story, draw: Draw): string {
  const running = story.controllers.filter(({ state }) => state !== 'down');
  if (running.length === 0) return restart(story, draw);
  const controller = draw.of(running);
  if (controller.state === 'running' && draw.chance(0.3)) {
    controller.stop();
    return 'a controller is asked to stop';
  }
  controller.crash();
  return 'a controller crashes';
}

/** Lets a controller stand still, or go on. */
function freeze({ controllers }: Story, draw: Draw): string {
  const controller = draw.of(controllers);
  if (controller.state === 'down') return 'the controller is down anyway';
  if (controller.state === 'frozen') {
    const timersFirst = draw.chance(0.5);
    controller.thaw(timersFirst);
    return `a controller goes on${timersFirst ? ', timers first' : ''}`;
  }
  controller.freeze();
  return 'a controller stands still';
}

/** Nobody can tell a process that stands still. */
function pauseDeadlines({ stage, controllers, nodeNames }: Story, draw: Draw): string {
  if (controllers.some(({ state }) => state === 'frozen')) return 'nobody hears of a pause';
  const scope: PauseScope = draw.chance(0.5)
    ? { kind: 'all' }
    : { kind: 'node', name: draw.of(nodeNames) };
  stage.pauseDeadlines(scope);
  return `deadlines stand still: ${JSON.stringify(scope)}`;
}

function resumeDeadlines({ stage, controllers }: Story): string {
  if (controllers.some(({ state }) => state === 'frozen')) return 'nobody hears that they go on';
  stage.resumeDeadlines();
  return 'deadlines go on, and what tripped';
}
