// Who is asking, and for whom: addresses as text and as numbers, ranges of them, the client behind
// proxies that we trust, and whether the Host header names us. Pure functions over strangers'
// bytes, as in http_rules.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// IPv6, or IPv4 as ::ffff:a.b.c.d: so an IPv4 address is the same whichever way it came.
typedef struct HttpPeer {
    uint8_t bytes[16];
} HttpPeer;

HttpPeer http_peer_v4(uint32_t address); // 127.0.0.1 is 0x7f000001
// "192.0.2.1", "2001:db8::1", or one of them with a port: "192.0.2.1:80", "[2001:db8::1]:80".
bool http_peer_parse(const char *text, size_t bytes, HttpPeer *out);
bool http_peer_is_loopback(const HttpPeer *peer);
// A number for limits: IPv4 the address itself, IPv6 the 64 bits that belong to one customer.
uint64_t http_peer_key(const HttpPeer *peer);

// A range of addresses, "10.0.0.0/8" or "2001:db8::/32"; a single address without a slash.
typedef struct HttpPeerRange {
    HttpPeer first;
    uint32_t bits; // of the 128 that must be the same
} HttpPeerRange;

// False: it is no range, or its address has bits after the prefix.
bool http_peer_range_parse(const char *text, HttpPeerRange *out);
bool http_peer_range_has(const HttpPeerRange *ranges, uint32_t count, const HttpPeer *peer);

// The client of a connection. Proxies append the address they see to X-Forwarded-For, so the list
// is read from its end for as long as its entries are trusted proxies themselves.
typedef struct HttpForwarded {
    HttpPeer client;
    bool is_known; // false: a proxy wrote something that is no address, and `client` is that proxy
} HttpForwarded;

// forwarded: the values of all X-Forwarded-For headers in their order, joined by commas; NULL:
// none. It is looked at only if the connection itself comes from a trusted proxy.
HttpForwarded http_client_find(const HttpPeerRange *trusted, uint32_t count,
                               const HttpPeer *connection, const char *forwarded);

// --- the public URL -----------------------------------------------------------------------------

#define HTTP_SITE_BYTES 272

// "https://play.example", "http://play.example:8080/": where players reach this server.
typedef struct HttpSite {
    char origin[HTTP_SITE_BYTES]; // as browsers write it: no port that the scheme has anyway
    char name[HTTP_SITE_BYTES];   // the host without its port; "": there is no public URL
} HttpSite;

// False: no http or https URL, or one with a path, a user or anything else behind the host.
bool http_site_parse(const char *url, HttpSite *out);

// May a request for this Host be answered? The public URL's host, an address in numbers, or
// localhost (also as "x.localhost"), with or without a port. Any other name was made to point here
// by somebody else, whose page could then read our answers.
bool http_site_answers(const HttpSite *site, const char *host);
