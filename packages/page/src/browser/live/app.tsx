// The page of a live cluster: the next evictions, the chart around the present, the reasons, and the numbers.
import { useMemo } from 'preact/hooks';
import { liveOutcomes, livePlacesOf } from '../../model/filter.ts';
import { leftText } from '../../model/live/left.ts';
import { liveCounts, liveSentence } from '../../model/live/pods.ts';
import { toLeave } from '../../model/live/rows.ts';
import { duration } from '../../model/words.ts';
import { Chart } from '../chart.tsx';
import { Filters, Find, Hint, Zoom } from '../filters.tsx';
import { Legend } from '../legend.tsx';
import { Overview } from '../overview.tsx';
import { Why } from '../why.tsx';
import { type Forecasts, forecastsOf } from './forecast.tsx';
import { LiveNumbers } from './numbers.tsx';
import type { LiveState } from './state.ts';
import { WhatIfPart } from './what-if.tsx';

interface LiveAppProps {
  readonly state: LiveState;
  /** The address for questions of what would happen; null: they are not answered. */
  readonly whatIf: string | null;
  /** The question of another page, as the query string of the form; null: none. */
  readonly ask: string | null;
}

export function LiveApp({ state, whatIf, ask }: LiveAppProps) {
  const input = state.input.value;
  const now = state.now.value;
  const forecasts = useMemo(forecastsOf, []);
  const isQuiet = input.pods.length + input.podsLeftOut === 0;
  const since = input.evictedSince ?? null;
  const steps = toLeave(input, now);
  return (
    <main>
      <header class="result">
        <h1>
          {liveSentence(input, now)}
          {isQuiet && worstOf(forecasts)}
        </h1>
        <p>
          {input.evictedBy}
          {since !== null && ` since ${state.clock(Math.round(since))}`}.
        </p>
        <p>
          {liveCounts(input)}.{' '}
          <button type="button" class="place" onClick={showLeft}>
            Left lately: {leftText(input.record, now)}
          </button>
        </p>
        <p class="about">
          Cluster {input.source}. This page has watched since {state.clock(input.openedAt)}; all
          times are those of this machine.
        </p>
        <Stale state={state} />
        {input.warnings.map((text) => (
          <p key={text} class="warning">
            Warning: {text}
          </p>
        ))}
      </header>
      {whatIf !== null && (
        <WhatIfPart {...{ input, forecasts, isQuiet }} address={whatIf} asked={ask} />
      )}
      <Controls state={state} />
      <div class={state.chosen.value ? 'chart-and-why open' : 'chart-and-why'}>
        <div class="chart-side">
          {steps.length > 0 && (
            <Overview
              state={state}
              label="pods to leave"
              fill="pending"
              series={[steps]}
              scale={null}
            />
          )}
          <Legend rows={state.rows.value} texts={texts} />
          <Chart state={state} />
        </div>
        <Why state={state} />
      </div>
      <LiveNumbers state={state} />
      {whatIf === null && (
        <p class="about">
          What would happen if a zone or a node failed: ask on the page of{' '}
          <code>kubectl taintmgr web</code>.
        </p>
      )}
    </main>
  );
}

function showLeft(): void {
  document.getElementById('left')?.scrollIntoView({ block: 'start' });
}

/** The effect of the worst loss, as soon as it is known: the zones' before the nodes'. */
function worstOf({ zone, node }: Forecasts): string {
  const found = (zone.losses.value ?? node.losses.value)?.losses ?? [];
  const [worst] = found;
  if (!worst) return '';
  return worst.isHarmful
    ? ` If ${worst.part} died now: ${worst.text}.`
    : ` If any ${zone.losses.value ? 'zone' : 'node'} died now: no workload goes down.`;
}

const texts = {
  event: 'something changed',
  evicted: 'left',
  untold: 'unknown who left',
  held: 'held or blocked',
};

/** A warning that the shown state is old, also for screen readers. */
function Stale({ state }: { readonly state: LiveState }) {
  const { lost } = state.input.value;
  const unheard = state.unheard.value;
  const now = state.now.value;
  if (unheard)
    return (
      <p class="stale" role="status">
        Stale since {state.clock(unheard.since)}: nothing is heard of the program that serves this
        page. It ended, or this machine cannot reach it.
      </p>
    );
  if (!lost) return null;
  return (
    <p class="stale" role="status">
      Stale since {state.clock(lost.since)} ({duration(Math.max(0, Math.floor(now - lost.since)))}):
      the cluster cannot be read, and is asked again and again. {lost.message}
    </p>
  );
}

function Controls({ state }: { readonly state: LiveState }) {
  return (
    <div class="controls">
      <Find query={state.query} />
      <Filters state={state} {...livePlacesOf(state.input.value)} outcomes={liveOutcomes} />
      <Zoom state={state}>
        <button
          type="button"
          aria-pressed={state.ownView.value === null}
          onClick={() => {
            state.ownView.value = null;
          }}
        >
          Now
        </button>
        <button
          type="button"
          onClick={() => {
            state.ownView.value = { from: 0, until: state.end.value };
          }}
        >
          All
        </button>
      </Zoom>
      <Hint />
    </div>
  );
}
