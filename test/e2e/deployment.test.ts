/** The files for systemd, containers and Kubernetes: they say what the programs they are for accept, and their processes start. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { ROLES } from '../../src/cli/workspace/roles.ts';
import { startLockstep } from './cli-process.ts';
import { openCommandHarness } from './commands.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

// biome-ignore lint/suspicious/noExplicitAny: the schema of Kubernetes checks the shape
type Manifest = any;
const FOLDER = 'config/deploy/kubernetes';
const manifests: readonly Manifest[] = readdirSync(path.join(ROOT, FOLDER)).flatMap((file) =>
  parseAllDocuments(read(path.join(FOLDER, file))).map((document) => document.toJS()),
);
const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind);
const deployments = ofKind('Deployment');
const settings: string = ofKind('ConfigMap')[0]?.data['lockstep.yaml'];
const compose = parse(read('docker-compose.yml'), { merge: true });
const containers: readonly (readonly [string, Manifest])[] = Object.entries(compose.services);
const probes = new Set<string>(
  deployments.flatMap(({ spec: { template } }) => {
    const { startupProbe, livenessProbe, readinessProbe } = template.spec.containers[0];
    return [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
  }),
);
const variables = ['DATABASE_URL', 'REDIS_URL', ...[...settings.matchAll(/env: (\w+)/g)].map(([, name]) => name)];

test('the unit allows the system calls of Node, and ends no process for another one', () => {
  const unit = read('config/deploy/lockstep.service');
  expect(unit).toMatch(/^SystemCallFilter=@system-service @pkey$/m); // with @system-service alone, Node 20 is killed at once
  expect(unit).toMatch(/^SystemCallErrorNumber=EPERM$/m);
});

test('every manifest for Kubernetes has only members that Kubernetes knows, each of its type', () => {
  const { source: _, kinds, ...schemas } = JSON.parse(read('test/vendors/kubernetes.json'));
  const ajv = new Ajv2019({ allowUnionTypes: true, allErrors: true }).addSchema(schemas, 'kubernetes');
  for (const manifest of manifests) {
    const schema = kinds[`${manifest.apiVersion} ${manifest.kind}`];
    ajv.validate({ $ref: `kubernetes${schema?.$ref}` }, manifest);
    expect([manifest.metadata.name, ajv.errors]).toEqual([manifest.metadata.name, null]);
  }
  expect(deployments.map(({ metadata }) => metadata.name).sort()).toEqual(
    ROLES.filter((role) => role !== 'service')
      .map((role) => `lockstep-${role}`)
      .sort(),
  );
});

test('the parts of the manifests fit together', () => {
  for (const { spec } of [...deployments, ...ofKind('PodDisruptionBudget')])
    expect(deployments.map((one) => one.spec.template.metadata.labels)).toContainEqual(spec.selector.matchLabels);
  for (const { spec } of ofKind('Service')) {
    const behind = deployments.find((one) => one.metadata.labels['app.kubernetes.io/component'] === 'console');
    expect(behind.spec.template.metadata.labels).toEqual(spec.selector);
    expect(behind.spec.template.spec.containers[0].ports.map(({ name }: Manifest) => name)).toContain(
      spec.ports[0].targetPort,
    );
  }
  for (const { spec } of deployments) {
    const { containers, volumes } = spec.template.spec;
    const names = volumes.map(({ name }: Manifest) => name);
    expect(containers[0].volumeMounts.map(({ name }: Manifest) => name)).toEqual(names);
    const { startupProbe, livenessProbe, readinessProbe } = containers[0];
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) expect(httpGet.port).toBe('health');
    for (const { name, containerPort } of containers[0].ports)
      expect(parse(settings)[name].listen).toBe(`0.0.0.0:${containerPort}`);
    expect(volumes[0].configMap.name).toBe(ofKind('ConfigMap')[0].metadata.name);
    expect(containers[0].args.join(' ')).toContain(
      `--config ${containers[0].volumeMounts[0].mountPath}/lockstep.yaml `,
    );
  }
});

test('every pod fulfils the restricted standard for pods, and writes only to its volumes', () => {
  for (const { spec } of deployments) {
    const { securityContext, containers } = spec.template.spec;
    expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    for (const container of containers)
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
  }
});

test('every container of docker-compose.yml is hardened, every image has a digest, and the health check of ours has its address', () => {
  for (const [name, { read_only, cap_drop, security_opt, image = 'built' }] of containers) {
    expect([name, read_only, cap_drop, security_opt]).toEqual([name, true, ['ALL'], ['no-new-privileges:true']]);
    if (image !== 'built') expect(image).toMatch(/@sha256:[0-9a-f]{64}$/);
  }
  const bases = [...read('Dockerfile').matchAll(/^FROM (\S+)(?: AS (\w+))?$/gm)];
  expect(bases[0]?.[1]).toMatch(/^node:22-slim@sha256:[0-9a-f]{64}$/);
  const [, health] = /fetch\('http:\/\/(\S+)\/readyz'\)/.exec(read('Dockerfile')) ?? [];
  expect(read('Dockerfile')).toContain(`CMD ["start", "--health", "${health}"]`);
  expect(parse(read('config/compose.yaml')).health.listen).toBe(health);
  expect(bases.slice(1).map(([, base]) => base)).toEqual(['node', 'node']);
});

test('docs/deployment.md names every variable of the manifests', () => {
  const [secret = ''] = /create secret generic lockstep[^`]*/.exec(read('docs/deployment.md')) ?? [];
  expect([...secret.matchAll(/--from-literal=(\w+)=/g)].map(([, name]) => name)).toEqual(variables);
});

const started: readonly (readonly [string, readonly string[], string])[] = [
  ...deployments.map(({ metadata, spec }) => [metadata.name, spec.template.spec.containers[0].args, settings] as const),
  ...containers
    .filter(([, { command }]) => command?.[0] === 'start')
    .map(([name, { command }]) => [`compose: ${name}`, command, read('config/compose.yaml')] as const),
];

test.each(started)('%s starts as its file says, and answers its probes', async (_, args, text) => {
  const harness = await openCommandHarness();
  onTestFinished(() => harness.close());
  await harness.file('deployed.yaml', text.replaceAll(/^( +listen: [\d.]+):\d+/gm, '$1:0'));
  const known = { LOCKSTEP_DEMO_KEY: 'a-key-of-24-characters', ACME_API_KEY: 'a-key', LOCKSTEP_PASSWORD: 'a-password' };
  const around = { ...harness.around, env: { ...harness.around.env, ...known } };
  const config = args.indexOf('--config') + 1;
  const running = startLockstep([...args.with(config, 'deployed.yaml'), '--json'], around);
  const { healthUrl, consoleUrl } = await running.ready();
  for (const probe of probes) expect([probe, (await fetch(`${healthUrl}${probe}`)).status]).toEqual([probe, 200]);
  if (args.at(-1) === 'console') expect((await fetch(`${consoleUrl}/login`)).status).toBe(200);
  running.signal('SIGTERM');
  expect((await running.ended).code).toBe(0);
});
