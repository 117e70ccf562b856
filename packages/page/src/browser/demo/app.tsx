// The page of the demo: acts on buttons, the time, and both clusters beside each other.
import type { DemoNode, DemoSide, DemoState } from '../../demo.ts';
import { demoSentence, heldText, nextText } from '../../model/demo.ts';
import { clock, count } from '../../model/words.ts';

interface DemoAppProps {
  readonly state: DemoState;
  /** Nothing is heard of the program any more. */
  readonly isGone: boolean;
  readonly send: (name: string, value: string) => void;
}

export function DemoApp({ state, isGone, send }: DemoAppProps) {
  const { sides, acts, look, pressed } = state;
  const isFirst = (name: string): boolean => pressed.length === 0 && name === acts[0]?.name;
  return (
    <main class="demo">
      <header class="result">
        <h1>{demoSentence(state)}</h1>
        <p>
          Left, kube-controller-manager decides which pods are evicted; right, taintmgr. Both
          clusters have the same 18 nodes and 45 pods. Press a button: it happens to both.
        </p>
        {isGone && (
          <p class="stale" role="status">
            The demo has ended: start kubectl taintmgr web --demo again.
          </p>
        )}
      </header>
      <section class="buttons" aria-label="What happens to both clusters">
        {acts.map(({ name, label, undo, does, isOn }) => (
          <div key={name} class={isOn ? 'press on' : isFirst(name) ? 'press first' : 'press'}>
            <button
              type="button"
              aria-describedby={`does-${name}`}
              onClick={() => send('act', name)}
            >
              {isOn && undo !== null ? undo : label}
            </button>
            <p id={`does-${name}`}>{does}</p>
          </div>
        ))}
      </section>
      <p class="look" role="status">
        {look === '' ? `Start with “${acts[0]?.label}”.` : look}
      </p>
      <Time state={state} send={send} />
      <div class="sides">
        {sides.map((side) => (
          <Side key={side.rules} side={side} state={state} />
        ))}
      </div>
      <Legend />
      <p class="about">
        Both clusters are simulated, in this one program: taintmgr's engine decides by its own rules
        or by those of kube-controller-manager 1.36. For your own cluster:{' '}
        <code>kubectl taintmgr web</code> shows the same live, and asks what if.
      </p>
    </main>
  );
}

function Time({ state, send }: Omit<DemoAppProps, 'isGone'>) {
  const { now, speed, speeds, isPaused, isOver } = state;
  return (
    <div class="controls time">
      <span class="clock">{clock(Math.floor(now))}</span>
      <button
        type="button"
        aria-pressed={isPaused}
        onClick={() => send('pause', isPaused ? 'off' : 'on')}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </button>
      <span class="zoom">
        {speeds.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={one === speed}
            aria-label={`${one} times faster than a clock`}
            onClick={() => send('speed', String(one))}
          >
            {one}×
          </button>
        ))}
      </span>
      <button type="button" onClick={() => send('begin', 'again')}>
        Start again
      </button>
      {isPaused && <span>Time stands still: press Resume.</span>}
      {isOver && <span>The demo is over after a day: start again.</span>}
    </div>
  );
}

function Side({ side, state }: { readonly side: DemoSide; readonly state: DemoState }) {
  const { rules, zones, workloads, down, downMax, podMinutesLost, evictions } = side;
  const held = heldText(side);
  return (
    <section class={`side ${rules}`} aria-label={rules}>
      <h2>{rules === 'taintmgr' ? rules : `${rules} 1.36`}</h2>
      <dl class="score">
        <div class={down > 0 ? 'harmed' : ''}>
          <dt>Pods down now</dt>
          <dd>{down}</dd>
          <dd class="note">at most {downMax} at once</dd>
        </div>
        <div>
          <dt>Evictions so far</dt>
          <dd>{evictions}</dd>
          <dd class="note">{podMinutesLost.toFixed(0)} pod-minutes lost</dd>
        </div>
        <div>
          <dt>Next to leave</dt>
          <dd class="next">{nextText(side, state.now)}</dd>
          <dd class="note">{held || (side.next ? `${side.next.pod} on ${side.next.node}` : '')}</dd>
        </div>
      </dl>
      <Curve side={side} state={state} />
      <ul class="workloads" aria-label="Workloads">
        {workloads.map(({ name, wanted, serving, needed }) => (
          <li key={name} class={serving < needed ? 'harmed' : ''}>
            <span>{name}</span>
            <span class="bar" aria-hidden="true">
              <i style={{ width: `${(serving / wanted) * 100}%` }} />
              <b style={{ left: `${(needed / wanted) * 100}%` }} />
            </span>
            <span>
              {serving} of {wanted} serve, needs {needed}
            </span>
          </li>
        ))}
      </ul>
      {zones.map(({ name, nodes }) => (
        <div key={name} class="zone">
          <span>{name}</span>
          <ul aria-label={`Nodes of ${name}`}>
            {nodes.map((node) => (
              <Node key={node.name} node={node} />
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

function Node({ node: { name, mark, pods } }: { readonly node: DemoNode }) {
  const text = `${name}: ${mark}, ${count(pods, 'pod')}`;
  return (
    <li class={`node ${mark}`} title={text}>
      <span aria-hidden="true">{pods}</span>
      <span class="unseen">{text}</span>
    </li>
  );
}

/** The shown part of the time, in seconds. */
const shownSeconds = 1800;
const [wide, tall] = [600, 90] as const;

/** Pods down over the last half hour, with a line for each act, on the same scale for both. */
function Curve({
  side: { curve, workloads },
  state,
}: {
  readonly side: DemoSide;
  readonly state: DemoState;
}) {
  const from = Math.max(0, state.now - shownSeconds);
  const all = workloads.reduce((sum, { wanted }) => sum + wanted, 0);
  const x = (at: number): number => (Math.max(0, at - from) / shownSeconds) * wide;
  const y = (down: number): number => tall - (down / Math.max(1, all)) * (tall - 4);
  const path = curve.map(([at, down], index) => {
    const until = curve[index + 1]?.[0] ?? state.now;
    return until < from ? '' : `H${x(at)}V${y(down)}H${x(until)}`;
  });
  return (
    <figure class="curve">
      <figcaption>Pods down, of {all}, in the last 30 minutes</figcaption>
      <svg viewBox={`0 0 ${wide} ${tall}`} preserveAspectRatio="none" aria-hidden="true">
        <path d={`M0,${tall}${path.join('')}V${tall}Z`} />
        {state.pressed
          .filter(({ at }) => at >= from)
          .map(({ at, text }) => (
            <line key={`${at} ${text}`} x1={x(at)} x2={x(at)} y1="0" y2={tall} />
          ))}
      </svg>
    </figure>
  );
}

function Legend() {
  return (
    <ul class="legend" aria-label="Legend">
      {(['ready', 'tainted', 'down'] as const).map((mark) => (
        <li key={mark}>
          <i class={`swatch node ${mark}`} /> node{' '}
          {mark === 'tainted' ? 'with a NoExecute taint' : mark}
        </li>
      ))}
      <li>a number in a node: its pods</li>
      <li>
        <i class="swatch needed" /> what the disruption budget needs
      </li>
      <li>
        <i class="swatch pressed" /> a button was pressed
      </li>
    </ul>
  );
}
