// Starts the page of a live cluster: it waits for the first state, then shows it and each that follows.
import { computed, effect, type Signal, signal } from '@preact/signals';
import { render } from 'preact';
import type { LiveInput, LiveSource } from '../../live.ts';
import { liveSentence } from '../../model/live/pods.ts';
import { LiveApp } from './app.tsx';
import { liveStateOf } from './state.ts';

export function startLive(place: Element, source: LiveSource): void {
  const stream = listen(source.stream);
  const unheard = computed(() => stream.unheardSince.value !== null);
  let isShown = false;
  effect(() => {
    if (stream.input.value === null) render(<Waiting isUnheard={unheard.value} />, place);
    else if (!isShown) {
      isShown = true;
      show(place, stream, source.whatIf ?? null);
    }
  });
}

function Waiting({ isUnheard }: { readonly isUnheard: boolean }) {
  return (
    <main>
      <h1>The cluster is being read</h1>
      {isUnheard && (
        <p class="stale" role="status">
          Nothing is heard of the program that serves this page, or it does not let this browser in.
        </p>
      )}
    </main>
  );
}

function show(place: Element, stream: Stream, whatIf: string | null): void {
  const first = stream.input.peek();
  if (!first) return;
  const input = signal(first);
  effect(() => {
    const { value } = stream.input;
    if (!value) return;
    // Another program answers, or the same one was restarted: seconds count from elsewhere.
    if (value.startsAt !== first.startsAt) {
      location.reload();
      return;
    }
    input.value = value;
    document.title = `${liveSentence(value)} - ${value.source}`;
  });
  // The question is asked once: the state keeps the address, without the question.
  const ask = new URLSearchParams(location.hash.slice(1)).get('ask');
  const state = liveStateOf(input, stream.now);
  effect(() => {
    const since = stream.unheardSince.value;
    state.unheard.value = since === null ? null : { since };
  });
  render(<LiveApp state={state} whatIf={whatIf} ask={ask} />, place);
}

/** As long as nothing is heard the program may be gone: it says something every few seconds. */
const unheardMsMax = 15_000;
const lookEveryMs = 1000;

interface Stream {
  /** Null: nothing has come yet. */
  readonly input: Signal<LiveInput | null>;
  /** The present, in seconds as the input has them. */
  readonly now: Signal<number>;
  /** The time since which the stream is silent; null: it is not. */
  readonly unheardSince: Signal<number | null>;
}

/** Listens for as long as the page is open; the browser connects again where that is cut off. */
function listen(address: string): Stream {
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
