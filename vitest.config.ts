import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'
import { buildAssets } from './scripts/assets.ts'
import { localConfig } from './scripts/lib/local-config.ts'
import { outside } from './test/outside/outside.ts'
import { fastFolder } from './test/system/ram-disk.ts'

buildAssets() // the folder that wrangler.toml names must exist

process.env.TMPDIR = fastFolder() // D1's files

/** How many stores all tests run with. Without it, each project has its own number. */
const { STORES, APPLE_NOTIFICATION } = process.env
const OF_SEVERAL = STORES === '1' ? ['test/stores/!(ids|places).test.ts'] : []

const PACKAGES_TO_BUNDLE = ['@simplewebauthn/server', '@simplewebauthn/server/helpers']
// Where the directory and the stores meet: people, projects, keys, names that lead to a store, what runs over all stores, and
// each route, page and kind of message once. They run with three stores, with their projects in the last; a scheduled workflow
// repeats them with one. All other tests send one database the same statements whichever store it is, so one store is enough.
const OF_STORES = [
  'test/{accounts,exposures,notices,projects,sessions,stores,tenancy,upkeep}/*.test.ts',
  'test/backup/{bucket,restore}.test.ts',
  'test/api-keys/{costs,issued,rotate}.test.ts',
  'test/audit/{audit-log,two-databases}.test.ts',
  'test/console/{api-keys,members,overview,roles}.test.ts',
  'test/consumers/settings.test.ts',
  'test/contract/{authentication,members,plane,projects}.test.ts',
  'test/devices/devices.test.ts',
  'test/domains/{domains,surface,takeover}.test.ts',
  'test/endpoints/story.test.ts',
  'test/entitlements/tokens.test.ts',
  'test/{flow,leaks}.test.ts',
  'test/health/{health,healthz,metrics}.test.ts',
  'test/http/{responses,shares}.test.ts',
  'test/inbox/lifecycle.test.ts',
  'test/inbox/{connections/reseal,receive/receive,receive/spool}.test.ts',
  'test/members/{erase,invitations,keys,roles}.test.ts',
  'test/sso/{connections,customers-end,lives,sign-in}.test.ts',
  'test/sso/team/{change,owners,sign-in}.test.ts',
  'test/watch/rest.test.ts',
]
// Tests of what an isolate keeps in memory for all requests: they need one that is new, or leave one behind that is not.
const ALONE = [
  'test/exposures/github.test.ts',
  'test/openapi-once.test.ts',
  'test/http/{answering,arriving}.test.ts',
  'test/inbox/receive/{group-commit,refusal-counts,together}.test.ts',
]

/** Answers every fetch of the Worker and of tests, so that no test needs a network. */
type Outside = (request: Request) => Promise<Response>

/** The Worker in workerd, with a number of stores. */
export const inWorkers = (outboundService: Outside, stores = '1') =>
  cloudflareTest(async () => ({
    wrangler: { configPath: localConfig({ stores }, resolve('.wrangler/vitest'))[1] ?? './wrangler.toml' },
    miniflare: {
      bindings: {
        // Secrets for the tests alone, in place of a developer's .dev.vars.
        CODE_PEPPER: 'a pepper that only the tests know, 32+',
        ENCRYPTION_KEY_1: btoa('k'.repeat(32)),
        SIGN_UP: 'open',
        PUBLIC_ORIGIN: 'https://platform.test',
        SURFACE_TARGET: 'surfaces.platform.test',
        REFUSAL_FLUSH_MS: '20', // ten seconds by default, for which every test of a refused delivery would wait
        SIGN_IN_DELIVERY: 'log',
        METRICS_TOKEN: '',
        ALL_CASES: process.env.CASES === 'all', // a fifth of the random cases otherwise: test/harness/cases.ts
        // The body of a real delivery of Apple's, from a file: test/vendors/apple-real.test.ts.
        APPLE_NOTIFICATION: APPLE_NOTIFICATION ? readFileSync(APPLE_NOTIFICATION, 'utf8') : '',
        TEST_MIGRATIONS: await readD1Migrations('drizzle'),
      },
      // An empty database, and a bucket for backups: a deployment need not have one.
      d1Databases: { RESTORED: 'restored' },
      r2Buckets: { TEST_BACKUPS: 'backups' },
      // A test may ask one project more in a minute than its limits allow.
      ratelimits: Object.fromEntries(
        ['PROJECT_READS', 'PROJECT_WRITES', 'PROJECT_COSTLY', 'CALLER_COSTLY', 'USER_COSTLY', 'REFRESH'].map((name) => [
          `LIMIT_${name}`,
          { namespace_id: name, simple: { limit: 1_000_000, period: 60 } },
        ]),
      ),
      outboundService,
    },
  }))

export default defineConfig({
  logLevel: 'error', // hundreds of warnings else: the vendors' SDKs ship source maps without sources
  test: {
    setupFiles: ['test/setup.ts'],
    silent: 'passed-only',
    // One more than there are cores: some tests wait for a limit of time to pass. By default, one core of two would stay idle.
    maxWorkers: availableParallelism() + 1,
    // Against hanging only: no test is to depend on how fast the machine is.
    testTimeout: 600_000, // all cases of the longest take a minute on an idle machine
    hookTimeout: 120_000,
    expect: { requireAssertions: true },
    restoreMocks: true, // spies of a test end with it
    // Files share a worker each: starting one and loading the code takes longer than most files' tests. test/setup.ts
    // empties the storage before each file.
    isolate: false,
    // Some of its packages import files without their endings, which workerd does not resolve: Vite bundles them.
    deps: { optimizer: { ssr: { enabled: true, include: PACKAGES_TO_BUNDLE } } },
    projects: [
      {
        extends: true,
        plugins: [inWorkers(outside, STORES ?? '3')],
        test: { name: 'stores', include: OF_STORES, exclude: [...ALONE, ...OF_SEVERAL] },
      },
      {
        extends: true,
        plugins: [inWorkers(outside, STORES)],
        test: { name: 'alone', include: ALONE, isolate: true },
      },
      {
        extends: true,
        plugins: [inWorkers(outside, STORES)],
        test: {
          name: 'once',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', ...OF_STORES, ...ALONE, ...OF_SEVERAL],
        },
      },
    ],
  },
})
