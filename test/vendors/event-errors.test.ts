import { expect, it } from 'vitest'
import webhooks from '../../docs/concepts/webhooks.md?raw'
import { EVENT_ERROR_CODES, eventAdvice } from '../../src/vendors/event-errors'

it('docs/concepts/webhooks.md lists every code of an error of an event as the table has it', () => {
  const listed = webhooks.match(/^\| `\w+` \| .* \| (yes|no) \|$/gm)
  expect(listed).toEqual(
    EVENT_ERROR_CODES.map((code) => {
      const { what, mayPass } = eventAdvice(code, 'the vendor')
      return `| \`${code}\` | ${what} | ${mayPass ? 'yes' : 'no'} |`
    }),
  )
})
