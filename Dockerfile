# SPDX-License-Identifier: GPL-2.0-or-later
# The lab in a container: Debian's packages and a bundle, nothing else (docs/bundle.md). Any user, default rights:
#   make bundle FILE=search-lab.bundle WHEELS=3.13    # or the file of a release; it lies beside this one
#   docker build --tag search-lab .
#   docker run --rm search-lab lab run geo
ARG BASE=debian:trixie

FROM ${BASE} AS base
RUN apt-get update -qq && \
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends git libseccomp2 make python3 python3-venv && \
    rm -rf /var/lib/apt/lists/* && \
    useradd --create-home --uid 1000 --shell /bin/bash lab

# The bundle itself stays in this stage: the image holds what it installs.
FROM base AS installed
COPY --chown=lab:lab . /home/lab/search-lab
USER lab
WORKDIR /home/lab/search-lab
ARG BUNDLE=search-lab.bundle
RUN make setup BUNDLE="$BUNDLE" && rm "$BUNDLE"

FROM base
COPY --from=installed --chown=lab:lab /home/lab /home/lab
USER lab
WORKDIR /home/lab/search-lab
ENV PATH=/home/lab/search-lab/.venv/bin:/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8
CMD ["bash"]
