import { describe, expect, it } from 'vitest'
import { canonicalNetwork, isInNetworks, isWithinNetworks, networkAround } from '../../src/lib/networks'

describe('a block of addresses', () => {
  it.each([
    ['192.0.2.5/24', '192.0.2.0/24'],
    ['192.0.2.5', '192.0.2.5/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['255.255.255.255/1', '128.0.0.0/1'],
    ['::/0', '::/0'],
    ['::1', '::1/128'],
    ['2001:DB8:0::/32', '2001:db8::/32'],
    ['2001:db8:ffff::1/33', '2001:db8:8000::/33'],
    // RFC 5952 §4.2: the longest run of zeros is left out, of two the first, and never one group alone.
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1/128'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3/128'],
    ['0:2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8/128'],
    ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8/128'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0/128'],
    ['10:0:0:0:0:0:0:10', '10::10/128'],
    ['64:ff9b::192.0.2.1', '64:ff9b::c000:201/128'],
    // IPv4 inside IPv6 is IPv4.
    ['::ffff:192.0.2.7/120', '192.0.2.0/24'],
    ['::FFFF:c000:0207', '192.0.2.7/32'],
    ['::ffff:0:0/96', '0.0.0.0/0'],
  ])('%s is %s', (text, canonical) => {
    expect(canonicalNetwork(text)).toBe(canonical)
    expect(canonicalNetwork(canonical)).toBe(canonical)
  })

  it.each([
    ...['', '/8', '1.2.3', '1.2.3.', '1.2.3.4.5', '256.1.1.1', '010.0.0.1', '0x7f.0.0.1', '1.2.3.4/33', '1.2.3.4/'],
    ...[
      '1.2.3.4/08',
      '1.2.3.4/8/8',
      '1.2.3.4/-1',
      '1.2.3.4/1e1',
      ' 1.2.3.4',
      '1.2.3.4\n',
      '*',
      'example.com',
      '::/129',
    ],
    ...[
      '1::2::3',
      ':::',
      '1:::2',
      ':1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8::',
      '1:2:3:4:5:6:7:8:9',
      '12345::',
    ],
    ...['fe80::1%eth0', '[::1]', '1.2.3.4:5::', '::1.2.3', '::g'],
  ])('%j is none', (text) => {
    expect(canonicalNetwork(text)).toBeNull()
    expect(isInNetworks(text, ['0.0.0.0/0', '::/0'])).toBe(false)
    expect(networkAround(text, { v4: 24, v6: 48 })).toBeNull()
  })
})

it.each([
  ['192.0.2.255', ['192.0.2.0/24'], true],
  ['192.0.3.0', ['192.0.2.0/24'], false],
  ['192.0.3.0', ['192.0.2.0/24', '192.0.3.0/32'], true],
  ['::ffff:192.0.2.1', ['192.0.2.0/24'], true],
  ['::ffff:c000:201', ['192.0.2.0/24'], true],
  ['192.0.2.1', ['::/0'], false],
  ['2001:db8::1', ['0.0.0.0/0'], false],
  ['2001:db8:0:1::', ['2001:db8::/64'], false],
  ['2001:DB8:0:0:ffff::', ['2001:db8::/64'], true],
  [null, ['0.0.0.0/0', '::/0'], false],
  ['192.0.2.1', [], false],
])('%s in %j: %s', (address, networks, is) => {
  expect(isInNetworks(address, networks)).toBe(is)
})

it.each([
  [null, null, true],
  [['192.0.2.0/24'], null, true],
  [null, ['0.0.0.0/0', '::/0'], false],
  [['192.0.2.0/25', '192.0.2.128/25'], ['192.0.2.0/24'], true],
  [['192.0.2.0/23'], ['192.0.2.0/24'], false],
  [['192.0.2.0/24', '::/128'], ['192.0.2.0/24'], false],
])('%j within %j: %s', (inner, outer, is) => {
  expect(isWithinNetworks(inner, outer)).toBe(is)
})

it('knows the network around an address', () => {
  const around = (address: string) => networkAround(address, { v4: 24, v6: 48 })
  expect(around('192.0.2.9')).toBe('192.0.2.0/24')
  expect(around('::ffff:192.0.2.9')).toBe('192.0.2.0/24')
  expect(around('2001:db8:1:2::3')).toBe('2001:db8:1::/48')
})
