import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { command, scratchFolders } from './command.ts';

const folder = scratchFolders();

const WRONG: readonly (readonly [words: string, said: RegExp])[] = [
  ['', /: A command is missing/],
  ['rnu', /unknown command 'rnu'.*did you mean run/i],
  ['runs shwo', /Unknown command "shwo" after runs; did you mean "show"/],
  ['accounts fersh', /Unknown command "fersh" after accounts; did you mean "fresh"/],
  ['help rnu', /Unknown command "rnu" after lockstep; did you mean "run"/],
  ['help runs shwo', /Unknown command "shwo" after runs; did you mean "show"/],
  ['rnu --help', /Unknown command "rnu" after lockstep; did you mean "run"/],
  ['runs shwo --help', /Unknown command "shwo" after runs; did you mean "show"/],
  ['runs show a b', /Too many arguments for show: "b"/],
  ['service tenant', /Unknown command "tenant" after service; did you mean "tenants"/],
  ['run', /Missing required argument 'sync'/],
  ['run a b', /Too many arguments/],
  ['run nightly-contacts --dryrun', /Unknown option '--dryrun'.*--dry-run/],
  ['run nightly-contacts --lane fast', /interactive, batch/],
  ['run nightly-contact', /No sync named "nightly-contact".*did you mean "nightly-contacts"/],
  ['runs --limit 0', /whole number above 0/],
  ['runs export x', /Required option '--out <file>'/],
  ['runs export x --verdict good --out -', /rejected, review/],
  ['call', /operation is missing/],
  ['call contacts.serch --account demo', /No operation named "contacts.serch"; did you mean "contacts.search"/],
  ['call contacts.search --param term=x --account demo', /No parameter named "term".*search_term or only_body/],
  ['call tasks.update --param taskName=x --account demo', /has task_id; the fields of its record go into --body\)/],
  ['call contacts.search --account demo', /needs --param search_term=/],
  ['call contacts.getall --account dem', /No account named "dem"/],
  ['call contacts.getall --account demo --body {}', /takes no body/],
  ['call contacts.create --account demo --body {', /--body: its value is not JSON/],
  ['call contacts.create --account demo --body @nowhere.json', /nowhere.json cannot be read/],
  ['call contacts.getall --param page', /NAME=VALUE/],
  ['start --roles worker,schedular', /No role "schedular"; did you mean "scheduler"/],
  ['run nightly-contacts --reconcile', /"nightly-contacts" is of type contacts and has no targets/],
  ['service --port 99999', /port from 0 to 65535/],
  ['service --tenant acme', /--tenant and a key .--key-env or --key-file. must be given/],
  ['service --key-env A --key-file b', /--key-env.*--key-file/],
  ['service --tenant acme --key-env NOT_SET', /--key-env is missing: the environment variable NOT_SET is not set/],
  ['service --tenant acme --key-file none', /--key-file is missing: the file .*none cannot be read/],
  ['service --testbed {"latency":1}', /--testbed: .*latency/],
  ['service keys', /Required option '--tenant <name>'/],
  ['service --port 80 keys --tenant acme', /Unknown option '--port'. See: lockstep service keys --help/],
  ['runs show --limit 5', /Unknown option '--limit'. See: lockstep runs show --help/],
  ['runs export run-1 --verdict nope', /Allowed choices are .*See: lockstep runs export --help/],
  ['deliveries replay --since nope', /Expected a time .*See: lockstep deliveries replay --help/],
  ['service delete person 1 --tenant acme', /contact, customer, order, task/],
  ['settings', /command is missing/],
  ['demo --config lockstep.yaml', /Unknown option '--config'. See: lockstep demo --help/],
  ['settings chek', /Unknown command 'chek'.*check/],
  ['settings print --config nowhere.yaml', /No settings file at/],
  ['run nightly-contacts --data nowhere', /no data directory .*nowhere\. .*add --init\. .*lockstep demo\n/],
  ['runs --data nowhere', /no data directory .*nowhere\. .*add --init/],
  ['runs --init --data /proc/lockstep', /Cannot make the data directory \/proc\/lockstep: .*Choose another one/],
  ['runs --init --data config/lockstep.yaml', /Cannot make the data directory .*EEXIST/],
  ['runs --init --config /proc/a/b.yaml', /Cannot make the directory of the settings file \/proc\/a: /],
];

test.each(WRONG)('"lockstep %s" ends with 2 and says why', async (words, said) => {
  const args = words.split(' ').filter((word) => word !== '');
  const { code, stderr, json } = await command([...args, '--json'], { cwd: await folder({ withSettings: true }) });
  expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(json.error.message).toBe(stderr.trimEnd().replace(/^lockstep: /, ''));
  expect(stderr).not.toMatch(/^lockstep: [a-z]+ [a-z]/);
});

test('refuses a key that is too short before it creates a data directory', async () => {
  const cwd = await folder();
  const args = ['service', '--init', '--tenant', 'acme', '--key-env', 'SHORT', '--json'];
  const { code, json } = await command(args, { cwd, env: { SHORT: 'too-short' } });
  expect([code, json.error.code, await readdir(cwd)]).toEqual([2, 'KEY_UNFIT', []]);
});

const HELPFUL = ['', 'demo', 'run', 'runs', 'runs export', 'call', 'settings', 'service', 'service keys', 'start'];

test.each(HELPFUL)('"lockstep %s --help" explains the command', async (words) => {
  const args = words.split(' ').filter((word) => word !== '');
  const { code, stdout, stderr } = await command([...args, '--help'], { cwd: await folder() });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(new RegExp(`^Usage: ${['lockstep', ...args].join(' ')}`));
  expect(stdout).toContain('--data <dir>');
  expect(stdout.includes('Exit codes')).toBe(words === ''); // once
});

test.each(['orders', 'runs show', 'service keys add'])('"lockstep help %s" shows the same', async (words) => {
  const args = words.split(' ');
  const cwd = await folder();
  const [asked, helped] = [await command([...args, '--help'], { cwd }), await command(['help', ...args], { cwd })];
  expect([helped.code, helped.stdout]).toEqual([0, asked.stdout]);
});

test('the help of a subcommand lists its own options and those of every command, without the defaults of flags', async () => {
  const { stdout } = await command(['runs', 'show', '--help'], { cwd: await folder() });
  const options = [...stdout.matchAll(/^ {2}(?:-h, )?--([a-z]+)/gm)].map(([, name]) => name);
  expect(options).toEqual(['row', 'help', 'config', 'data', 'json', 'init', 'verbose', 'version']);
  expect(stdout).not.toContain('default: false');
  const keys = await command(['service', 'keys', '--help'], { cwd: await folder() });
  expect(keys.stdout.match(/--tenant .*/g)).toEqual([expect.stringMatching(/tenant of the keys \(required\)$/)]);
});

test.each(['run nightly-contacts', 'runs', 'review', 'settings print'])(
  '"lockstep %s" outside a workspace is an error',
  async (words) => {
    const { code, stderr } = await command(words.split(' '), { cwd: await folder() });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/no settings file .*add --init\. .*lockstep demo/)]);
  },
);

test('prints the version of the package', async () => {
  const { code, stdout } = await command(['--version'], { cwd: await folder() });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
});
