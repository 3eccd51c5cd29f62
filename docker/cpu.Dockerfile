# Flotilla for CPUs, from the distribution. Make it first: mvn -Pdist package -pl app -am
# Then: docker build -f docker/cpu.Dockerfile --build-arg VERSION=0.1.0-SNAPSHOT --build-arg PLATFORM=linux-x86_64 -t flotilla app/target
# and:  docker run --rm --shm-size 1g -v "$PWD:/work" flotilla train --out runs/digits
FROM debian:12-slim
ARG VERSION
ARG PLATFORM=linux-x86_64
ADD flotilla-${VERSION}-${PLATFORM}.tar.gz /opt/
RUN ln -s "/opt/flotilla-${VERSION}-${PLATFORM}/flotilla" /usr/local/bin/flotilla \
    && useradd --create-home flotilla \
    && install -d -o flotilla /work
USER flotilla
WORKDIR /work
ENTRYPOINT ["flotilla"]
CMD ["--help"]
