// Starts the page: of a simulation or of losses with the data in the page, of a live cluster or the demo with
// the streamed data.
import './page.css';
import './heat-map.css';
import './paper.css';
import './demo/demo.css';
import { signal } from '@preact/signals';
import { render } from 'preact';
import type { DemoSource } from '../demo.ts';
import type { EachPageInput } from '../each.ts';
import type { LiveSource } from '../live.ts';
import { lossSentence } from '../model/losses.ts';
import { inReadingOrder } from '../model/runs.ts';
import { sentenceOf } from '../model/sentence.ts';
import type { PageInput } from '../simulation.ts';
import { startDemo } from './demo/start.tsx';
import { EachApp } from './each/app.tsx';
import { eachStateOf } from './each/state.ts';
import { startLive } from './live/start.tsx';
import { App, stateOf } from './simulation/app.tsx';

const place = document.getElementById('page');
const text = document.getElementById('data')?.textContent ?? null;
if (place && text !== null) {
  const data = await unpacked(text);
  if ('stream' in data) startLive(place, data);
  else if ('demo' in data) startDemo(place, data);
  else if ('losses' in data) showLosses(place, data);
  else showSimulation(place, data);
}

/** JSON, compressed by gzip, in base64. */
async function unpacked(
  base64: string,
): Promise<PageInput | EachPageInput | LiveSource | DemoSource> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const json = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return await new Response(json).json();
}

function showSimulation(where: Element, data: PageInput): void {
  const input = inReadingOrder(data);
  document.title = `${sentenceOf(input)} - ${input.source}`;
  render(<App state={stateOf(signal(input))} />, where);
}

function showLosses(where: Element, input: EachPageInput): void {
  document.title = `${lossSentence(input)} - ${input.source}`;
  render(<EachApp state={eachStateOf(input)} />, where);
}
