import { defineConfig } from 'vitest/config'

/** The console in a real browser against the real local server: npm run test:e2e. */
export default defineConfig({
  test: {
    include: ['test/e2e/**/*.test.ts'],
    globalSetup: 'test/e2e/server.ts',
    setupFiles: ['test/e2e/on-failure.ts'],
    // Two files at once, on however many cores: much of a file is waiting for what the page does after some seconds.
    // Each has users and projects of its own.
    maxWorkers: 2,
    sequence: { concurrent: false },
    bail: 0,
    // Against hanging only: no test is to depend on how fast the machine is.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } }, // one second by default
  },
})
