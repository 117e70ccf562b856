import process from 'node:process';
import { type Servers, scenarios } from './transport-scenarios.ts';

// Plays one scenario in the runtime that runs this file and prints what it told, as JSON; then
// nothing is left that would keep the process alive:
// RUNTIME transport-runtime.ts NAME SERVERS

const [name = '', servers = '{}'] = process.argv.slice(2);
const scenario = scenarios[name];
if (!scenario) throw new Error(`no scenario "${name}"`);
const told = await scenario(JSON.parse(servers) as Servers);
process.stdout.write(JSON.stringify(told));
