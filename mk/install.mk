# What is installed where, and the Debian packages of that.

LIBDIR := $(PREFIX)/lib/schedgov
PYTHONDIR ?= $(PREFIX)/lib/python3/dist-packages
DOCDIR ?= $(PREFIX)/share/doc/schedgov
MANDIR ?= $(PREFIX)/share/man
BASH_COMPLETION_DIR ?= $(PREFIX)/share/bash-completion/completions
ZSH_COMPLETION_DIR ?= $(PREFIX)/share/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)
UNITDIR ?= $(PREFIX)/lib/systemd/system
USERUNITDIR ?= $(PREFIX)/lib/systemd/user
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
TMPFILESDIR ?= $(PREFIX)/lib/tmpfiles.d
DBUS_SERVICES_DIR ?= $(PREFIX)/share/dbus-1/system-services
# These are looked for in one place only, whatever the prefix: by the daemon, the bus, polkit and fish.
VENDOR_CONF_DIR ?= /usr/lib/schedgov
DBUS_POLICY_DIR ?= /usr/share/dbus-1/system.d
POLKIT_DIR ?= /usr/share/polkit-1/actions
FISH_COMPLETION_DIR ?= /usr/share/fish/vendor_completions.d
CONF_FILES := $(shell find conf -type f -not -name '.*' 2>/dev/null)

# What the manual refers to, and other pages for users.
GUIDES := adoption cgroups gpus metrics policies progress simulate

UNITS := $(O)/units/schedgovd.service $(O)/units/schedgov-launch.service units/schedgov-launch.socket \
         $(O)/units/schedgov-gpu@.service units/schedgov-gpu.socket units/schedgov.slice
USER_UNITS := $(O)/units/user/schedgovd.service
$(O)/units/%: units/%.in $(FLAGS_STAMP)
	@mkdir -p $(@D)
	@sed 's,@SBINDIR@,$(PREFIX)/sbin,g; s,@BINDIR@,$(PREFIX)/bin,g; s,@LIBDIR@,$(LIBDIR),g' $< >$@

$(O)/%.pc: lib/client/%.pc.in lib/proto/names.h $(FLAGS_STAMP)
	@version=$$(sed -n 's/^#define SG_VERSION "\(.*\)"/\1/p' lib/proto/names.h); \
	 sed "s,@PREFIX@,$(PREFIX),; s,@USRLIBDIR@,$(USRLIBDIR),; s,@VERSION@,$$version," $< >$@

# MODE:FILE:WHERE, for both ways.
INSTALLED := 0755:$(O)/schedgovd:$(PREFIX)/sbin/schedgovd 0755:$(O)/schedctl:$(PREFIX)/bin/schedctl \
        0755:$(O)/schedgov-shim:$(LIBDIR)/schedgov-shim 0755:$(O)/schedgov-launch:$(LIBDIR)/schedgov-launch \
        0755:$(O)/schedgov-gpu:$(LIBDIR)/schedgov-gpu \
        $(foreach u,$(UNITS),0644:$(u):$(UNITDIR)/$(notdir $(u))) \
        $(foreach u,$(USER_UNITS),0644:$(u):$(USERUNITDIR)/$(notdir $(u))) \
        0644:units/sysusers.conf:$(SYSUSERSDIR)/schedgov.conf 0644:units/tmpfiles.conf:$(TMPFILESDIR)/schedgov.conf \
        0644:ctl/complete/schedctl.bash:$(BASH_COMPLETION_DIR)/schedctl 0644:ctl/complete/schedctl.zsh:$(ZSH_COMPLETION_DIR)/_schedctl \
        0644:ctl/complete/schedctl.fish:$(FISH_COMPLETION_DIR)/schedctl.fish \
        0644:units/org.schedgov1.conf:$(DBUS_POLICY_DIR)/org.schedgov1.conf \
        0644:units/org.schedgov1.service:$(DBUS_SERVICES_DIR)/org.schedgov1.service \
        0644:units/org.schedgov1.policy:$(POLKIT_DIR)/org.schedgov1.policy \
        $(foreach p,$(MAN_PAGES),0644:$(p):$(MANDIR)/man$(patsubst .%,%,$(suffix $(p)))/$(notdir $(p))) \
        $(foreach f,$(CONF_FILES),0644:$(f):$(VENDOR_CONF_DIR)/$(f:conf/%=%)) \
        $(foreach l,$(LIBRARIES),0644:$(l):$(USRLIBDIR)/$(notdir $(l))) \
        0644:$(O)/schedgov.pc:$(USRLIBDIR)/pkgconfig/schedgov.pc 0644:lib/client/schedgov.h:$(PREFIX)/include/schedgov.h \
        0644:lib/client/schedgov.py:$(PYTHONDIR)/schedgov.py \
        $(foreach e,$(wildcard examples/*.py),0644:$(e):$(DOCDIR)/$(e)) \
        $(foreach g,$(GUIDES),0644:docs/$(g).md:$(DOCDIR)/$(g).md)
LINKED := $(USRLIBDIR)/libschedgov.so
OWN_DIRS := $(DOCDIR)/examples $(DOCDIR) $(VENDOR_CONF_DIR)/policy.d $(VENDOR_CONF_DIR) $(LIBDIR)
# By a rename: programs of running jobs start all the time, and have the library of that moment preloaded.
put = install -D -m $(word 1,$(1)) $(word 2,$(1)) $(DESTDIR)$(word 3,$(1)).new && mv -f $(DESTDIR)$(word 3,$(1)).new $(DESTDIR)$(word 3,$(1))
where = $(DESTDIR)$(word 3,$(subst :, ,$(1)))
define newline


endef

#h make man             manual pages, in build/man
#h make install         PREFIX=/usr/local DESTDIR=; `make uninstall` takes it back
.PHONY: man install uninstall
man: $(MAN_PAGES)
install: all man $(UNITS) $(USER_UNITS) $(O)/schedgov.pc
	$(foreach i,$(INSTALLED),@$(call put,$(subst :, ,$(i)))$(newline)	)
	@ln -sf $(notdir $(CLIENT_SO)) $(DESTDIR)$(LINKED)
uninstall:
	rm -f $(foreach i,$(INSTALLED),$(call where,$(i))) $(DESTDIR)$(LINKED)
	@rmdir --ignore-fail-on-non-empty $(wildcard $(OWN_DIRS:%=$(DESTDIR)%)) 2>/dev/null || true

# --- Debian packages ------------------------------------------------------------------------------

# Of a copy, since debhelper works where the sources are. Its objects stay: what hasn't changed isn't
# compiled again. Our tests are run by `make check`, so not here, too.
DEB := build/deb
DEB_SOURCES := Makefile mk LICENSE README.md conf ctl daemon debian docs examples lib units
#h make deb             Debian packages, in build/deb
NEEDS_deb := build deb
.PHONY: deb
deb: $(DEB)/.made
$(DEB)/.made: $(shell find $(DEB_SOURCES) -type f 2>/dev/null) | deps
	@mkdir -p $(DEB)/source && rm -f $(DEB)/*.deb
	@find $(DEB)/source -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
	@tar -c $(DEB_SOURCES) | tar -x -C $(DEB)/source
	@echo '  DEB   $(DEB)'; cd $(DEB)/source && \
	 env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL DEB_BUILD_OPTIONS='nocheck noautodbgsym' \
	 dpkg-buildpackage -us -uc -b -nc -Jauto -Pnocheck >../log 2>&1 || { tail -n 40 ../log; exit 1; }
	@touch $@
