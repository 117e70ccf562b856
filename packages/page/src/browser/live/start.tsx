// Starts the page of a live cluster: it waits for the first state, then shows it and each that follows.
import { computed, effect, signal } from '@preact/signals';
import { render } from 'preact';
import type { LiveSource } from '../../live.ts';
import { liveSentence } from '../../model/live/pods.ts';
import { LiveApp } from './app.tsx';
import { liveStateOf } from './state.ts';
import { listen, type Stream } from './stream.ts';

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
    input.value = value;
    document.title = `${liveSentence(value)} - ${value.source}`;
  });
  const state = liveStateOf(input, stream.now);
  effect(() => {
    const since = stream.unheardSince.value;
    state.unheard.value = since === null ? null : { since };
  });
  render(<LiveApp state={state} whatIf={whatIf} />, place);
}
