import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { VENDOR_NAMES } from '../../src/vendors/index.ts'
import { launch, sessionCookie, URL_OF_CONSOLE } from './browser.ts'

/** The least contrast of text, by WCAG 2 AA. */
const AA = 4.5

type Look = { name: string; backgroundColor: string; color: string }
const LOOKS = `[...document.querySelectorAll('.vendors .vendor')].map((one) => {
  const { backgroundColor, color } = getComputedStyle(one, '::before')
  return { name: one.textContent, backgroundColor, color }
})`

let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())

/** The contrast of a color with white. @param color `rgb(r, g, b)` */
function contrast(color: string): number {
  const [r = 0, g = 0, b = 0] = (color.match(/\d+/g) ?? []).map((part) => {
    const share = Number(part) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 1.05 / (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05)
}

it('each vendor has an initial in a color of its own, on which white can be read, light and dark', async () => {
  const { token } = await signIn(URL_OF_CONSOLE, 'vendors@example.com')
  const { id } = await must<{ id: string }>(`${URL_OF_CONSOLE}/platform/v1/projects`, {
    token,
    json: { name: 'Vendors' },
  })
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ colorScheme })
    await context.addCookies([sessionCookie(token)])
    const page = await context.newPage()
    await page.goto(`${URL_OF_CONSOLE}/console/p/${id}/platform/billing/connections/new`)
    const looks = await page.evaluate<Look[]>(LOOKS)
    expect(looks).toHaveLength(VENDOR_NAMES.length)
    expect(new Set(looks.map(({ backgroundColor }) => backgroundColor)).size).toBe(VENDOR_NAMES.length)
    for (const { name, backgroundColor, color } of looks) {
      expect([name, color]).toEqual([name, 'rgb(255, 255, 255)'])
      expect(contrast(backgroundColor), `${name} on ${backgroundColor}`).toBeGreaterThanOrEqual(AA)
    }
    await context.close()
  }
})
