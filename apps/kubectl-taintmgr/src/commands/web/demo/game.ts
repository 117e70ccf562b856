// The demo of web: two clusters, the time in both, and the buttons.
import { setTimeout as wait } from 'node:timers/promises';
import type { Millis } from '@taintmgr/core/time';
import type { DemoState } from '@taintmgr/page';
import { Streams } from '../server.ts';
import { demoActs, demoMsMax, demoScript, demoSource } from './scene.ts';
import { Side } from './side.ts';

const speeds = [10, 60, 300] as const;
const speedUsual = 60;
/** Between two states that the page gets. */
const frameMs: Millis = 250;
/** Where the machine is too slow, the demo takes longer; nothing is left out. */
const frameMsMax: Millis = 500;

/** The number of acts that are shown, the last ones. */
const pressedMax = 50;

/** Both clusters at rest, before any act. */
export function demoGame(): Game {
  return new Game();
}

/** Time passes only while a page is open. */
class Game {
  readonly streams = new Streams<DemoState>();
  readonly #source = demoSource();
  readonly #acts = demoActs();
  #sides = this.#made();
  #round = 1;
  #after: Millis = 0;
  #speed: number = speedUsual;
  #isPaused = false;
  #on: ReadonlySet<string> = new Set();
  #pressed: DemoState['pressed'] = [];
  #look = '';

  /** Takes what a button says, as the page sends it; false: there is no such button. */
  press(query: URLSearchParams): boolean {
    const [[name, value] = ['', '']] = [...query];
    const buttons: Readonly<Record<string, () => boolean>> = {
      act: () => this.#act(value),
      speed: () => this.#setSpeed(Number(value)),
      pause: () => this.#pause(value),
      begin: () => value === 'again' && this.#begin(),
    };
    const isKnown = (Object.hasOwn(buttons, name) && buttons[name]?.()) || false;
    if (isKnown) this.#publish();
    return isKnown;
  }

  /** Moves the time of both clusters on. */
  advance(millis: Millis): void {
    if (this.#isPaused) return;
    this.#after = Math.min(demoMsMax, this.#after + millis);
    for (const side of this.#sides) side.runUntil(this.#after);
  }

  state(): DemoState {
    return {
      ...{ round: this.#round, now: this.#after / 1000, speed: this.#speed, speeds },
      ...{ isPaused: this.#isPaused, isOver: this.#after >= demoMsMax },
      acts: this.#acts.map(({ begins: _, ends: __, ended: ___, ...act }) => {
        return { ...act, isOn: this.#on.has(act.name) };
      }),
      ...{ pressed: this.#pressed, look: this.#look },
      sides: this.#sides.map((side) => side.view()),
    };
  }

  /** Plays until `interrupt`. */
  async follow(interrupt: AbortSignal): Promise<void> {
    this.#publish();
    let lookedAt = performance.now();
    while (!interrupt.aborted) {
      await wait(frameMs, undefined, { signal: interrupt }).catch(() => undefined);
      const now = performance.now();
      const passed = Math.min(frameMsMax, now - lookedAt);
      lookedAt = now;
      if (this.streams.viewers === 0 || interrupt.aborted) continue;
      this.advance(passed * this.#speed);
      this.#publish();
    }
  }

  #publish(): void {
    this.streams.publish(this.state());
  }

  #made(): readonly Side[] {
    const script = demoScript();
    return [
      new Side('kube-controller-manager', this.#source, script),
      new Side('taintmgr', this.#source, script),
    ];
  }

  #act(name: string): boolean {
    const act = this.#acts.find((one) => one.name === name);
    if (!act) return false;
    const isOn = this.#on.has(name);
    for (const side of this.#sides) side.play(isOn ? act.ends : act.begins);
    const others = [...this.#on].filter((one) => one !== name);
    this.#on = new Set(isOn || act.undo === null ? others : [...others, name]);
    const text = (isOn && act.undo) || act.label;
    this.#pressed = [...this.#pressed, { at: this.#after / 1000, text }].slice(-pressedMax);
    this.#look = isOn ? `${act.ended} Try another button.` : act.look;
    return true;
  }

  #setSpeed(speed: number): boolean {
    if (!speeds.some((one) => one === speed)) return false;
    this.#speed = speed;
    this.#isPaused = false;
    return true;
  }

  #pause(value: string): boolean {
    if (value !== 'on' && value !== 'off') return false;
    this.#isPaused = value === 'on';
    return true;
  }

  #begin(): boolean {
    this.#sides = this.#made();
    this.#round++;
    [this.#after, this.#on, this.#pressed, this.#look] = [0, new Set(), [], ''];
    this.#isPaused = false;
    return true;
  }
}
