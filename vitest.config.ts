import { availableParallelism } from 'node:os'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'
import { buildAssets } from './scripts/assets.ts'

buildAssets() // wrangler.toml names the folder: it has to be there

const VENDORS = 'test/vendors/*.test.ts'

export default defineConfig({
  logLevel: 'error', // the vendors' SDKs ship source maps without sources: hundreds of warnings
  plugins: [
    cloudflareTest(async () => ({
      wrangler: { configPath: './wrangler.toml' },
      miniflare: {
        bindings: {
          // Secrets of the tests alone; a developer's .dev.vars is not asked.
          CODE_PEPPER: 'a pepper that only the tests know, 32+',
          ENCRYPTION_KEY_1: btoa('k'.repeat(32)),
          SIGN_UP: 'open',
          REFUSAL_FLUSH_MS: '20', // or every refused delivery of a test would wait for ten seconds
          SIGN_IN_DELIVERY: 'log',
          TEST_MIGRATIONS: await readD1Migrations('drizzle'),
        },
      },
    })),
  ],
  test: {
    setupFiles: ['test/setup.ts'],
    silent: 'passed-only',
    maxWorkers: availableParallelism(), // by default one core is left idle, which of two is half
    testTimeout: 30_000,
    projects: [
      { extends: true, test: { name: 'worker', include: ['test/**/*.test.ts'], exclude: ['test/e2e/**', VENDORS] } },
      // Functions alone, without state: no worker of its own for each file, and the vendors' SDKs are read once.
      { extends: true, test: { name: 'vendors', include: [VENDORS], isolate: false } },
    ],
  },
})
