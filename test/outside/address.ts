/** The header that has the address of a request that was led to the server of the hosts outside. */
export const ADDRESS_HEADER = 'X-Outside-Address'
