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

// With STORES=3, the same tests run with the projects in the last of three stores, and those of several stores run too.
const { STORES = '1' } = process.env
const [, config = './wrangler.toml'] = localConfig({ stores: STORES }, resolve('.wrangler/vitest'))
const OF_SEVERAL = STORES === '1' ? ['test/stores/!(ids|places).test.ts'] : []

const PACKAGES_TO_BUNDLE = ['@simplewebauthn/server', '@simplewebauthn/server/helpers']
// What these show is the same with any number of stores: vendors' formats, what HTTP says of a request and of a response, who
// may ask, what an isolate remembers of a key, what providers and resolvers say, and that one database holds the same whatever
// the order of the facts. Other tests ask the same routes and the same statements in each store. CI runs these with one store.
const OF_NO_STORE = [
  'test/vendors/*.test.ts',
  'test/lib/*.test.ts',
  'test/sso/oidc/*.test.ts',
  'test/domains/{lookup,walk}.test.ts',
  'test/http/{authorization,bodies,fields-alone,filters,known-credentials,lists,refusals,responses}.test.ts',
  'test/docs.test.ts',
  'test/openapi.test.ts',
  'test/console/{headers,roles}.test.ts',
  'test/audit/refused.test.ts',
  'test/billing/{convergence,fetched,fetches,lives,oddities,oddities-values,ordering,vendor-stories,vendor-tables,versions}.test.ts',
  'test/consumers/links-order.test.ts',
  'test/devices/any-order.test.ts',
  'test/entitlements/order.test.ts',
  'test/feed/readers.test.ts',
  'test/sso/team/walk.test.ts',
  'test/watch/{walk,worlds}.test.ts',
]
// Races, faults, kills, clocks and volumes happen within one database, by the same statements in each store. A page of the
// console shows what the calls beside it answer: with three stores, those pages run that bring the directory and a store together.
const OF_ONE_DATABASE = [
  'test/**/{at,bounds,faults-*,killed,lag*,large*,leases,pages,races,receivers,trouble*,twelve,two-workers}.test.ts',
  'test/console/!(api-keys|audit-log|domains|general|invitations|members|overview|sso).test.ts',
]
const ONCE = [...OF_NO_STORE, ...OF_ONE_DATABASE]
// Tests of what an isolate keeps in memory for all requests: they need one that is new, or leave one behind that is not.
const ALONE = [
  'test/exposures/github.test.ts',
  'test/openapi-once.test.ts',
  'test/http/{answering,arriving}.test.ts',
  'test/inbox/receive/{group-commit,refusal-counts,together}.test.ts',
]

/** The Worker in workerd. @param outboundService what every fetch of the Worker and of tests leads to: no test needs a network */
export const inWorkers = (outboundService: (request: Request) => Promise<Response>) =>
  cloudflareTest(async () => ({
    wrangler: { configPath: config },
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
        ALL_CASES: process.env.CASES === 'all', // a fifth of the random cases otherwise: test/harness/cases.ts
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
  plugins: [inWorkers(outside)],
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
        test: {
          name: 'worker',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', ...ALONE, ...OF_SEVERAL, ...ONCE],
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, isolate: true } },
      { extends: true, test: { name: 'once', include: ONCE, exclude: ['test/e2e/**', ...OF_SEVERAL] } },
    ],
  },
})
