// Starts the page of the demo: it shows each state that is streamed.
import { effect, signal } from '@preact/signals';
import { render } from 'preact';
import type { DemoSource, DemoState } from '../../demo.ts';
import { DemoApp } from './app.tsx';

/** As long as nothing is heard the program may be gone: it says something every few seconds. */
const unheardMsMax = 5_000;

export function startDemo(place: Element, { demo: { stream, press } }: DemoSource): void {
  const state = signal<DemoState | null>(null);
  const isGone = signal(false);
  let heardAt = performance.now();
  const heard = (): void => {
    heardAt = performance.now();
    isGone.value = false;
  };
  const listen = (): EventSource => {
    const source = new EventSource(stream);
    source.addEventListener('state', ({ data }: MessageEvent<string>) => {
      state.value = JSON.parse(data);
      heard();
    });
    source.addEventListener('now', ({ data }: MessageEvent<string>) => {
      if (state.value) state.value = { ...state.value, now: Number(data) };
      heard();
    });
    return source;
  };
  let source = listen();
  // A browser has six connections for all its tabs: those that are hidden leave theirs to others.
  document.addEventListener('visibilitychange', () => {
    source.close();
    heardAt = performance.now();
    if (!document.hidden) source = listen();
  });
  setInterval(() => {
    isGone.value = !document.hidden && performance.now() - heardAt > unheardMsMax;
  }, 1000);
  const send = (name: string, value: string): void => {
    void fetch(`${press}?${new URLSearchParams({ [name]: value })}`).catch(() => {
      isGone.value = true;
    });
  };
  effect(() => {
    if (state.value)
      render(<DemoApp state={state.value} isGone={isGone.value} send={send} />, place);
  });
}
