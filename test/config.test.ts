import { expect, it } from 'vitest'
import config from '../wrangler.toml?raw'

it('bounds how many batches of each queue are handled at once', () => {
  const consumers = config.split('[[').filter((block) => block.startsWith('queues.consumers]]'))
  expect(consumers).toHaveLength(2)
  for (const block of consumers) expect(block).toMatch(/^max_concurrency = [1-9]\d*\b/m)
})
