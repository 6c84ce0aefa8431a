# Whereabouts. The targets are explained by `make help`.

PREFIX      = /usr
LIBEXECDIR  = $(PREFIX)/libexec
BINDIR      = $(PREFIX)/bin
DATADIR     = $(PREFIX)/share
UNITDIR     = $(PREFIX)/lib/systemd/system
SYSUSERSDIR = $(PREFIX)/lib/sysusers.d
SYSCONFDIR  = /etc
DESTDIR     =

# Where `make build` leaves the programs, and where `make install` takes them from.
BINARIES = .build/release

# The same flags whether a person is looking or not, or everything would be built again each time that changes.
SWIFT   = swift
PLAIN   = --no-color-diagnostics
SECONDS = 60
KILLS   = 1000
# The comparison with GeoClue is no part of the tree.
BENCH   = ../shared/bench
GEOCLUE = $(wildcard /usr/libexec/geoclue)

.PHONY: help run check build install uninstall bench fuzz soak format lint asan tsan sanitized recordings silence \
    deps deps-build deps-run

help:
	@echo 'make run        build, and show positions as they come, on a bus of its own'
	@echo 'make check      everything that has to hold before a change goes in'
	@echo 'make build      release programs in $(BINARIES)'
	@echo 'make install    below DESTDIR, PREFIX ($(PREFIX)) and SYSCONFDIR ($(SYSCONFDIR))'
	@echo 'make uninstall  what install has put there, except the configuration'
	@echo 'make bench      beside GeoClue and a bare responder, if BENCH ($(BENCH)) is there'
	@echo 'make fuzz       each fuzzer for SECONDS ($(SECONDS))'
	@echo 'make soak       kills the daemon KILLS ($(KILLS)) times in a stream of decisions'
	@echo 'make asan tsan  the tests under the address and the thread sanitizer'
	@echo 'make silence    for SECONDS ($(SECONDS)) the daemon asks nobody, if there are stand-ins to ask'
	@echo 'make recordings recorded receivers through the whole service, if they are there'
	@echo 'make lint       format and imports;  make format  puts the format right'
	@echo 'make deps       the Debian packages that all of this needs'

# Whatever is said on the way goes to standard error: positions alone go to standard output.
run:
	@$(MAKE) --no-print-directory deps-run build >&2
	@packaging/demo $(BINARIES)/whereaboutsd $(BINARIES)/whereabouts

# Each private bus takes one of the 128 inotify instances that the kernel gives a user, whose desktop has its own.
TEST = $(SWIFT) test $(PLAIN) --experimental-maximum-parallelization-width 8

# Tests of the whole service start programs, and would take the processor from those of its parts.
WHOLE_SERVICE = 'EndToEndTests|LocationDaemonTests'

check: deps lint
	$(SWIFT) build $(PLAIN) --build-tests
	$(TEST) --skip-build --skip $(WHOLE_SERVICE)
	$(TEST) --skip-build --filter $(WHOLE_SERVICE)
	packaging/check

# The Swift runtime is linked into the programs, and with it the C++ library that it needs: found before the shared one,
# the archive saves a tenth of the start-up time. Small code is as fast here, and saves 0.4 MB of memory. Relocations
# packed (glibc 2.36), equal functions folded and no symbols for others save 0.8 MB more; that takes the linker of LLVM.
# What the service calls of the runtime laid side by side saves another 1.5 MB: packaging/find-link-order finds it.
RELEASE = $(PLAIN) -c release --static-swift-stdlib -Xswiftc -Osize -Xlinker -L.build/static -Xswiftc -use-ld=lld \
    -Xlinker -z -Xlinker pack-relative-relocs -Xlinker --icf=safe -Xlinker --no-export-dynamic \
    -Xlinker --symbol-ordering-file=packaging/link-order -Xlinker --no-warn-symbol-ordering

build: deps-build
	@mkdir -p .build/static
	@ln -sf "$$(clang -print-file-name=libstdc++.a)" .build/static/libstdc++.a
	$(SWIFT) build $(RELEASE) --product whereaboutsd
	$(SWIFT) build $(RELEASE) --product whereabouts
	$(SWIFT) build $(RELEASE) --product whereabouts-lookup

install:
	install -d $(DESTDIR)$(LIBEXECDIR) $(DESTDIR)$(BINDIR) $(DESTDIR)$(UNITDIR) $(DESTDIR)$(SYSUSERSDIR)
	install -m 755 $(BINARIES)/whereaboutsd $(DESTDIR)$(LIBEXECDIR)/whereaboutsd
	install -m 755 $(BINARIES)/whereabouts-lookup $(DESTDIR)$(LIBEXECDIR)/whereabouts-lookup
	install -m 755 $(BINARIES)/whereabouts $(DESTDIR)$(BINDIR)/whereabouts
	set -e; for unit in whereabouts.service whereabouts-lookup.service; do \
	    target=$(DESTDIR)$(UNITDIR)/$$unit; \
	    sed 's|@libexecdir@|$(LIBEXECDIR)|' packaging/$$unit.in > $$target; chmod 644 $$target; done
	install -m 644 packaging/whereabouts-lookup.socket $(DESTDIR)$(UNITDIR)/whereabouts-lookup.socket
	install -m 644 packaging/whereabouts.sysusers $(DESTDIR)$(SYSUSERSDIR)/whereabouts.conf
	install -d $(DESTDIR)$(DATADIR)/dbus-1/system.d $(DESTDIR)$(DATADIR)/dbus-1/interfaces
	install -d $(DESTDIR)$(DATADIR)/dbus-1/system-services
	install -m 644 dbus/*.conf $(DESTDIR)$(DATADIR)/dbus-1/system.d/
	install -m 644 dbus/*.xml $(DESTDIR)$(DATADIR)/dbus-1/interfaces/
	set -e; for file in dbus/*.service.in; do \
	    target=$(DESTDIR)$(DATADIR)/dbus-1/system-services/$$(basename $$file .in); \
	    sed 's|@libexecdir@|$(LIBEXECDIR)|' $$file > $$target; chmod 644 $$target; done
	install -d $(DESTDIR)$(DATADIR)/polkit-1/rules.d $(DESTDIR)$(DATADIR)/polkit-1/actions
	install -m 644 packaging/org.whereabouts1.policy $(DESTDIR)$(DATADIR)/polkit-1/actions/
	install -d $(DESTDIR)$(DATADIR)/man/man1 $(DESTDIR)$(DATADIR)/man/man5 $(DESTDIR)$(DATADIR)/man/man8
	install -m 644 packaging/whereabouts.1 $(DESTDIR)$(DATADIR)/man/man1/
	install -m 644 packaging/whereabouts.rules $(DESTDIR)$(DATADIR)/polkit-1/rules.d/whereabouts.rules
	install -m 644 packaging/whereabouts.conf.5 $(DESTDIR)$(DATADIR)/man/man5/
	install -m 644 packaging/whereaboutsd.8 packaging/whereabouts-lookup.8 $(DESTDIR)$(DATADIR)/man/man8/
	install -d $(DESTDIR)$(SYSCONFDIR)/whereabouts/conf.d
	@# An administrator's configuration stays, and what was removed of it does not come back.
	test -e $(DESTDIR)$(SYSCONFDIR)/whereabouts/whereabouts.conf || \
	    { install -m 644 packaging/whereabouts.conf $(DESTDIR)$(SYSCONFDIR)/whereabouts/whereabouts.conf; \
	    install -m 644 packaging/beacondb.conf $(DESTDIR)$(SYSCONFDIR)/whereabouts/conf.d/50-beacondb.conf; }

uninstall:
	rm -f $(DESTDIR)$(LIBEXECDIR)/whereaboutsd $(DESTDIR)$(LIBEXECDIR)/whereabouts-lookup
	rm -f $(DESTDIR)$(BINDIR)/whereabouts $(DESTDIR)$(SYSUSERSDIR)/whereabouts.conf
	rm -f $(DESTDIR)$(UNITDIR)/whereabouts.service $(DESTDIR)$(UNITDIR)/whereabouts-lookup.service
	rm -f $(DESTDIR)$(UNITDIR)/whereabouts-lookup.socket $(DESTDIR)$(DATADIR)/man/man8/whereabouts-lookup.8
	set -e; for file in dbus/*.conf; do rm -f $(DESTDIR)$(DATADIR)/dbus-1/system.d/$$(basename $$file); done
	set -e; for file in dbus/*.xml; do rm -f $(DESTDIR)$(DATADIR)/dbus-1/interfaces/$$(basename $$file); done
	set -e; for file in dbus/*.service.in; do \
	    rm -f $(DESTDIR)$(DATADIR)/dbus-1/system-services/$$(basename $$file .in); done
	rm -f $(DESTDIR)$(DATADIR)/polkit-1/rules.d/whereabouts.rules
	rm -f $(DESTDIR)$(DATADIR)/polkit-1/actions/org.whereabouts1.policy
	rm -f $(DESTDIR)$(DATADIR)/man/man1/whereabouts.1 $(DESTDIR)$(DATADIR)/man/man5/whereabouts.conf.5 $(DESTDIR)$(DATADIR)/man/man8/whereaboutsd.8

# Some targets take more than the tree has.
needs = @test -d $(1) || { echo "$@: there is no $(1)" >&2; exit 1; }

bench:
	$(call needs,$(BENCH))
	@$(MAKE) --no-print-directory build
	rm -rf .build/bench && cp -R $(BENCH) .build/bench && chmod -R u+w .build/bench
	$(MAKE) -C .build/bench
	cd .build/bench && /usr/bin/python3 ab.py --rounds 3 "bare=$$PWD/floor {nmea}" \
	    $(if $(GEOCLUE),"geoclue=$(GEOCLUE) -t 0") \
	    "ours=$(abspath $(BINARIES))/whereaboutsd --config {conf} --timeout 0"

fuzz: deps-build
	Tests/Fuzz/run $(SECONDS)

soak: deps build
	SOAK_KILLS=$(KILLS) WHEREABOUTSD="$$PWD/$(BINARIES)/whereaboutsd" $(TEST) --filter LocationDaemonTests.SoakTests

format:
	$(SWIFT) format --in-place --recursive Sources Tests

lint:
	$(SWIFT) format lint --strict --recursive Sources Tests
	Tests/lint-imports

# Recorded receivers through the whole service, where ../shared has them.
recordings:
	$(call needs,../shared/data/nmea)
	@$(MAKE) --no-print-directory deps
	$(SWIFT) build $(PLAIN) --build-tests
	NMEA_PACE_MS=$${NMEA_PACE_MS-20} $(TEST) --skip-build --filter RecordedLogsTests

# Without a client, beside a lookup service and a wpa_supplicant of ../shared.
silence:
	$(call needs,../shared/standins)
	@$(MAKE) --no-print-directory deps
	$(SWIFT) build $(PLAIN) --build-tests
	SILENCE_SECONDS=$(SECONDS) $(TEST) --skip-build --filter LookupStandInTests

# Without leaks: Swift keeps the pointers to its side tables in a form that the leak sanitizer does not see through. What
# the service loses is seen by its size, in EndToEndTests.
asan: deps
	ASAN_OPTIONS=detect_leaks=0 $(MAKE) --no-print-directory sanitized SANITIZER=address

tsan: deps
	TSAN_OPTIONS=suppressions="$(CURDIR)/Tests/tsan.supp" $(MAKE) --no-print-directory sanitized SANITIZER=thread

# One test at a time: all of them share the loop's thread, and calls have deadlines.
SANITIZED = $(SWIFT) test $(PLAIN) --no-parallel --sanitize=$(SANITIZER) --scratch-path .build/$(SANITIZER)
sanitized:
	$(SANITIZED) --skip $(WHOLE_SERVICE)
	$(SANITIZED) --skip-build --filter $(WHOLE_SERVICE)

deps:
	@packaging/deps build run test

deps-build:
	@packaging/deps build

deps-run:
	@packaging/deps build run
