// What is streamed to the page: states of the cluster, and between them that the program is still there.
import { type Signal, signal } from '@preact/signals';
import type { LiveInput } from '../../live.ts';

/** As long as nothing is heard the program may be gone: it says something every few seconds. */
const unheardMsMax = 15_000;
const lookEveryMs = 1000;

export interface Stream {
  /** Null: nothing has come yet. */
  readonly input: Signal<LiveInput | null>;
  /** The present, in seconds as the input has them. */
  readonly now: Signal<number>;
  /** Since when nothing is heard; null: something is. */
  readonly unheardSince: Signal<number | null>;
}

/** Listens for as long as the page is open; the browser connects again where that is cut off. */
export function listen(address: string): Stream {
  const stream: Stream = { input: signal(null), now: signal(0), unheardSince: signal(null) };
  let heard = { at: performance.now(), now: 0 };
  const hear = (now: number): void => {
    heard = { at: performance.now(), now };
    stream.now.value = now;
    stream.unheardSince.value = null;
  };
  const source = new EventSource(address);
  source.addEventListener('state', ({ data }: MessageEvent<string>) => {
    const input: LiveInput = JSON.parse(data);
    stream.input.value = input;
    hear(input.now);
  });
  source.addEventListener('now', ({ data }: MessageEvent<string>) => hear(Number(data)));
  setInterval(() => {
    const gap = performance.now() - heard.at;
    // A server that refuses us is not asked again by the browser itself.
    const isUnheard = gap > unheardMsMax || source.readyState === EventSource.CLOSED;
    if (stream.input.value) stream.now.value = heard.now + gap / 1000;
    if (isUnheard) stream.unheardSince.value ??= heard.now;
  }, lookEveryMs);
  return stream;
}
